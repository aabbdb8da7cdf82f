/** Freezes a JSON value and everything in it. */
export function deepFreeze<T>(value: T): T {
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null || Object.isFrozen(next)) continue;
    Object.freeze(next);
    open.push(...Object.values(next));
  }
  return value;
}
