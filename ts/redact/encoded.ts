import type { Encoded } from "../values/encode.js";
import { appendToken, pointerTokens } from "../values/pointer.js";

/**
 * Redacts an encoded value. A placeholder that replaces a URL, bytes or a BigInt is a string, so its type is removed.
 */
export function redactEncoded<E extends Encoded>(encoded: E, redact: (json: string) => string): E {
  const text = redact(encoded.text);
  if (encoded.types === null || text === encoded.text) return { ...encoded, text };
  const before: unknown = JSON.parse(encoded.text);
  const after: unknown = JSON.parse(text);
  const kept = Object.entries(JSON.parse(encoded.types) as Record<string, string>).flatMap(
    ([pointer, type]): [string, string][] => {
      const steps = stepsTo(before, after, pointer);
      return steps === undefined ? [] : [[steps, type]];
    },
  );
  return { ...encoded, text, types: kept.length === 0 ? null : JSON.stringify(Object.fromEntries(kept)) };
}

/** The pointer to a value in the redacted copy; `undefined` if the value was replaced. */
function stepsTo(before: unknown, after: unknown, pointer: string): string | undefined {
  let [old, current] = [before, after];
  let path = "";
  for (const token of pointerTokens(pointer) ?? []) {
    if (typeof old !== "object" || old === null || typeof current !== "object" || current === null) return undefined;
    // A redacted key is found by its position: redaction keeps the order of members, except of keys that look like numbers.
    const key = Object.hasOwn(current, token) ? token : Object.keys(current)[Object.keys(old).indexOf(token)];
    if (key === undefined) return undefined;
    path = appendToken(path, key);
    old = (old as Record<string, unknown>)[token];
    current = (current as Record<string, unknown>)[key];
  }
  return typeof old === "string" && old !== current ? undefined : path;
}
