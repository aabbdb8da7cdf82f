import { hasName, named, RewindError } from "./base.js";

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
}

export function isForkError(value: unknown): value is ForkError {
  return hasName(value, "ForkError");
}
