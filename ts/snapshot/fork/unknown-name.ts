import { quoted } from "../../errors/base.js";
import { ForkError } from "../../errors/index.js";
import { nearest } from "../../errors/nearest.js";

/** Maximum of names in a message. */
const SHOWN = 20;

/** The error for a name that is unknown or missing. Its message lists the known names. */
export function unknownName(
  path: string,
  message: string,
  name: string | null,
  known: Iterable<string>,
  at: unknown,
): ForkError {
  const names = name === null ? [...new Set(known)] : nearest(name, known);
  return new ForkError(path, `${message} ${listed(names)}`, { at, known: names });
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return "There are no such names.";
  const more = names.length - SHOWN;
  return `There are: ${quoted(names.slice(0, SHOWN))}${more > 0 ? `, and ${more} more` : ""}.`;
}
