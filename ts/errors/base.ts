/** Options of the error classes that wrap another error. */
export interface CauseOptions {
  cause?: unknown;
}

/** Base of all errors of this package. `name` and `code` are stable; `message` is for people. */
export class RewindError extends Error {
  static {
    named(this, "RewindError");
  }

  /** Stable identifier, `ERR_REWIND_…`. */
  readonly code: string;

  constructor(message: string, code: string, options: CauseOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
  }
}

/** Gives a class its name on the prototype, where no bundler changes it and no copy shows it. */
export function named(errorClass: { readonly prototype: Error }, name: string): void {
  Object.defineProperty(errorClass.prototype, "name", {
    value: name,
    writable: true,
    configurable: true,
  });
}

/**
 * Whether a value is the error of that name. Compares `name` only, so it holds across copies of
 * the package, across realms and for errors that came back from a recording.
 */
export function hasName(value: unknown, name: string): boolean {
  try {
    return typeof value === "object" && value !== null && "name" in value && value.name === name;
  } catch {
    return false;
  }
}

/** A list for a message: `"a", "b"`. */
export function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(", ");
}

/** Whether a value is an error, of whatever realm: what the addon and Node throw is of another one in a `vm` context. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || FOREIGN_ERRORS.has(Object.prototype.toString.call(value));
  } catch {
    return false;
  }
}

/** What errors of other realms say they are. */
const FOREIGN_ERRORS = new Set(["[object Error]", "[object DOMException]"]);

/** The message of whatever was thrown. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return isError(thrown) ? thrown.message : String(thrown);
  } catch {
    return "(a value that cannot be shown)";
  }
}
