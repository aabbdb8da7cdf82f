/** How errors name what was given in the place of something of another kind: texts as they are. */
export function received(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : kindOf(value);
}

export function kindOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}
