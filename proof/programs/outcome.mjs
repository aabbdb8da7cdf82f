import { isDeepStrictEqual, inspect } from "node:util";

/** The outcome of a program in a comparable form. Errors contain everything that a program sees except the stack. */
export function comparable({ value, error }, depth = 0) {
  if (error === undefined) return { value };
  if (!(error instanceof Error)) return { thrown: error };
  const inner = (nested) => (depth > 20 ? "…" : comparable({ error: nested }, depth + 1));
  return {
    name: error.name,
    message: error.message,
    fields: { ...Object.fromEntries(Object.entries(error)), name: undefined, errors: undefined },
    ...(error.cause === undefined ? {} : { cause: inner(error.cause) }),
    ...(error.errors === undefined ? {} : { errors: error.errors.map(inner) }),
  };
}

export const same = isDeepStrictEqual;

/** The names of an error, of its causes and of the errors in it. */
export function errorNames(error, depth = 0) {
  if (!(error instanceof Error) || depth > 20) return [];
  return [error.name, ...[error.cause, ...(error.errors ?? [])].flatMap((nested) => errorNames(nested, depth + 1))];
}

/** The first difference between two values, for people. */
export function firstDifference(expected, actual, path = "") {
  if (isDeepStrictEqual(expected, actual)) return undefined;
  if (Array.isArray(expected) && Array.isArray(actual)) {
    const length = Math.max(expected.length, actual.length);
    for (let index = 0; index < length; index++) {
      const found = firstDifference(expected[index], actual[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
  }
  if (isPlain(expected) && isPlain(actual)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const found = firstDifference(expected[key], actual[key], `${path}.${key}`);
      if (found !== undefined) return found;
    }
  }
  return `${path || "all"}: expected ${show(expected)}, got ${show(actual)}`;
}

function isPlain(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function show(value) {
  const text = inspect(value, { depth: 4, breakLength: Infinity });
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
