// JSON pointers (RFC 6901).

export function appendToken(pointer: string, key: string | number): string {
  if (typeof key === "number") return `${pointer}/${key}`;
  const plain = !key.includes("~") && !key.includes("/");
  return `${pointer}/${plain ? key : key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Splits a pointer into keys. Returns `undefined` if the text is not a pointer. */
export function pointerTokens(pointer: string): string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) return undefined;
  const tokens = pointer.slice(1).split("/");
  if (!pointer.includes("~")) return tokens;
  if (/~(?![01])/.test(pointer)) return undefined;
  return tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The value at a pointer into JSON; `undefined` if there is none. */
export function valueAt(json: unknown, pointer: string): unknown {
  let value = json;
  for (const token of pointerTokens(pointer) ?? []) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, token)) return undefined;
    value = (value as Record<string, unknown>)[token];
  }
  return value;
}
