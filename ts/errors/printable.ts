import { inspect } from "node:util";

/** Characters that can move the cursor, change colors or reorder text. */
const CONTROL = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/**
 * Escapes control characters as in a JSON string, so that text of a recording, a file or a program cannot act on the
 * terminal.
 * @param kept control characters that stay, by default those of texts with several lines.
 */
export function printable(text: string, kept: string = "\n\t"): string {
  return text.replaceAll(CONTROL, (character) => (kept.includes(character) ? character : escaped(character)));
}

function escaped(character: string): string {
  if (character === "\n") return "\\n";
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** Prints a warning of the package, and the error that it is about. */
export function warn(text: string, ...errors: unknown[]): void {
  console.warn(`agent-rewind: ${printable(text)}`, ...errors.map(printableError));
}

/** The error, or its text if that contains control characters. */
function printableError(error: unknown): unknown {
  const text = inspect(error);
  const safe = printable(text);
  return safe === text ? error : safe;
}
