// Where redaction of what is written plugs in. What is captured and hashed is never redacted.

/** Takes what must not be written out of a text, or out of a value. */
export type MonitorRedactor = ((text: string) => string) | { readonly value: (value: unknown) => unknown };

/** A JSON value, given as text, as it may be written: JSON text. */
export function redactJson(text: string, redactor: MonitorRedactor | undefined): string {
  if (redactor === undefined) return text;
  const redacted =
    typeof redactor === "function"
      ? (JSON.parse(text, (_key, item: unknown) => (typeof item === "string" ? redactor(item) : item)) as unknown)
      : redactor.value(JSON.parse(text));
  return JSON.stringify(redacted) ?? "null";
}

/** @deprecated Use {@link MonitorRedactor}. */
export type Redactor = MonitorRedactor;
