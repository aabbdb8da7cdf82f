import { named, RewindError, type ErrorGuard } from "./base.js";

/** `forkSnapshot` cannot apply a change to a snapshot. */
export class ForkError extends RewindError {
  /** Path in the arguments, such as `changes.0.at`. */
  readonly path: string;
  /** The target of the change, as it was passed. */
  readonly at: unknown;
  /** The names that are valid at `path`, the most similar one first; empty if `path` does not expect a name. */
  readonly known: readonly string[];

  constructor(path: string, message: string, { at, known = [] }: { at?: unknown; known?: readonly string[] } = {}) {
    super(`forkSnapshot: ${path}: ${message}`, "ERR_REWIND_FORK");
    this.path = path;
    this.at = at;
    this.known = known;
  }
}

export const isForkError: ErrorGuard<ForkError> = named(ForkError, "ForkError");
