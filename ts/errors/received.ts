/** Describes a wrong argument for an error message: strings are quoted, of other values the type is named. */
export function received(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : kindOf(value);
}

export function kindOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}
