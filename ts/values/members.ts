// Members of JSON values, by keys that may come from outside, such as `__proto__`.

export function memberOf(parent: unknown, key: string): unknown {
  return hasMember(parent, key) ? parent[key] : undefined;
}

export function hasMember(parent: unknown, key: string): parent is Record<string, unknown> {
  if (typeof parent !== "object" || parent === null) return false;
  if (Array.isArray(parent) && !/^(?:0|[1-9]\d*)$/.test(key)) return false;
  return Object.hasOwn(parent, key);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields that are not `undefined`. */
export function present<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

export function setMember(parent: object, key: string | number, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    (parent as Record<string | number, unknown>)[key] = value;
  }
}
