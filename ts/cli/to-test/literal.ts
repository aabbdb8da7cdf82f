// Values as JavaScript source.

/** The source of a decoded value of a recording. Recursive, because the depth of recordings is limited. */
export function literal(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (value === undefined) return "undefined";
  if (typeof value !== "object" || value === null) return inSource(JSON.stringify(value));
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (value instanceof Date) return `new Date(${Number.isNaN(value.getTime()) ? "NaN" : literal(value.toJSON())})`;
  if (value instanceof URL) return `new URL(${literal(value.href)})`;
  if (value instanceof Map) return `new Map(${literal([...(value as Map<unknown, unknown>)])})`;
  if (value instanceof Set) return `new Set(${literal([...(value as Set<unknown>)])})`;
  if (Buffer.isBuffer(value)) return `Buffer.from(${literal(value.toString("base64"))}, "base64")`;
  if (value instanceof Uint8Array) return `new Uint8Array(${literal([...value])})`;
  if (value instanceof ArrayBuffer) return `new Uint8Array(${literal([...new Uint8Array(value)])}).buffer`;
  const members = Object.entries(value).map(([key, member]) => `${keySource(key)}: ${literal(member)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function keySource(key: string): string {
  // Without brackets, the key would set the prototype.
  if (key === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : inSource(JSON.stringify(key));
}

/** U+2028 and U+2029 are valid in string literals only since ES2019, and some tools still reject them. */
function inSource(text: string): string {
  return text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
