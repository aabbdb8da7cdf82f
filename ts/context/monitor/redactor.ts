/** Removes secrets from a text or a value before it is written. Captures and their hashes are never redacted. */
export type MonitorRedactor = ((text: string) => string) | { readonly value: (value: unknown) => unknown };

export function redactJson(text: string, redactor: MonitorRedactor | undefined): string {
  if (redactor === undefined) return text;
  const redacted =
    typeof redactor === "function"
      ? (JSON.parse(text, (_key, item: unknown) => (typeof item === "string" ? redactor(item) : item)) as unknown)
      : redactor.value(JSON.parse(text));
  return JSON.stringify(redacted) ?? "null";
}
