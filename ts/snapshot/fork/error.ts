import { hasName, named, quoted, RewindError } from "../../errors/base.js";
import { nearest } from "./nearest.js";

/** How many names a message lists. */
const SHOWN = 20;

/** A snapshot cannot be changed as `forkSnapshot` was told. */
export class ForkError extends RewindError {
  static {
    named(this, "ForkError");
  }

  /** Place in the arguments, such as `changes.0.at`. */
  readonly path: string;
  /** What was to be changed, as it was given. */
  readonly at: unknown;
  /** What could have been given at `path`, the nearest first; empty where that is no question of names. */
  readonly known: readonly string[];

  constructor(path: string, message: string, { at, known = [] }: { at?: unknown; known?: readonly string[] } = {}) {
    super(`forkSnapshot: ${path}: ${message}`, "ERR_REWIND_FORK");
    this.path = path;
    this.at = at;
    this.known = known;
  }

  /** A name that is not among those known, or that was not given; the message lists them. */
  static unknown(
    path: string,
    message: string,
    name: string | undefined,
    known: Iterable<string>,
    at: unknown,
  ): ForkError {
    const names = name === undefined ? [...new Set(known)] : nearest(name, known);
    return new ForkError(path, `${message} ${listed(names)}`, { at, known: names });
  }
}

export function isForkError(value: unknown): value is ForkError {
  return hasName(value, "ForkError");
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return "There is none.";
  const more = names.length - SHOWN;
  return `There are: ${quoted(names.slice(0, SHOWN))}${more > 0 ? `, and ${more} more` : ""}.`;
}
