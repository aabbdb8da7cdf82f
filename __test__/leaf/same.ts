const VIEWS = new Set(["Uint8Array", "Buffer", "ArrayBuffer"]);

/**
 * True if two values are the same to a program. Compares types, the order in Map and Set, -0, NaN and invalid dates.
 * Ignores only the order of an object's keys.
 */
export function same(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false;
  if (left instanceof Date) return Object.is(left.getTime(), (right as Date).getTime());
  if (left instanceof URL) return left.href === (right as URL).href;
  if (VIEWS.has(left.constructor?.name))
    return Buffer.from(left as Uint8Array).equals(Buffer.from(right as Uint8Array));
  if (left instanceof Map || left instanceof Set) return same([...left], [...(right as Map<unknown, unknown>)]);
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every(
      (key) =>
        Object.hasOwn(right, key) &&
        same((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key]),
    )
  );
}
