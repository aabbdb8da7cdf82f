// The hot path of recording: finds out if JSON.stringify can write a value without loss.

/** Deepest nesting of a recorded value, in levels. The core rejects deeper JSON text. */
export const MAX_DEPTH = 1_000;

// A value that contains the same part many times is small in memory and huge as text. These bounds end the walk.
const MAX_CONTAINERS = 2 ** 22;
const MAX_MEMBERS = 2 ** 26;

/**
 * True if `JSON.parse(JSON.stringify(value))` equals the value: plain objects and arrays of strings, finite numbers
 * (without -0), booleans and null, at most 1,000 levels deep. Works without recursion.
 *
 * Enumerable keys are all that counts; a symbol as a key makes it uncertain.
 *
 * If that is uncertain, returns `false`. A cycle counts as too deep. Errors of accessors and Proxies are thrown.
 */
export function isPlainJson(value: unknown): boolean {
  if (typeof value !== "object") return isPlainScalar(value);
  if (value === null) return true;

  const open: object[] = [value];
  const depths: number[] = [1];
  let containers = 0;
  let members = 0;
  while (open.length > 0) {
    const container = open.pop() as Record<string, unknown>;
    const depth = (depths.pop() as number) + 1;
    if (depth > MAX_DEPTH + 1 || ++containers > MAX_CONTAINERS || members > MAX_MEMBERS) return false;
    if (container["toJSON"] !== undefined || Object.getOwnPropertySymbols(container).length > 0) return false;

    if (Array.isArray(container)) {
      const { length } = container;
      // Fewer keys: the array has holes. More keys: it has properties that JSON drops.
      if (Object.getPrototypeOf(container) !== Array.prototype || Object.keys(container).length !== length)
        return false;
      members += length;
      for (let index = 0; index < length; index++) {
        const item: unknown = container[index];
        if (typeof item === "string") continue;
        if (typeof item !== "object") {
          if (!isPlainScalar(item)) return false;
        } else if (item !== null) {
          open.push(item);
          depths.push(depth);
        }
      }
      continue;
    }

    const prototype: unknown = Object.getPrototypeOf(container);
    if (prototype !== Object.prototype && prototype !== null) return false;
    // for-in also yields inherited keys, which costs only time.
    for (const key in container) {
      members++;
      const item = container[key];
      if (typeof item === "string") continue;
      if (typeof item !== "object") {
        if (!isPlainScalar(item)) return false;
      } else if (item !== null) {
        open.push(item);
        depths.push(depth);
      }
    }
  }
  return true;
}

function isPlainScalar(value: unknown): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      // `value - value` is NaN for NaN and the infinities.
      return value - value === 0 && (value !== 0 || 1 / value > 0);
    default:
      return false;
  }
}
