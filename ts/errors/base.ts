import { printable } from "./printable.js";

/** Options of the error classes that wrap another error. */
export interface CauseOptions {
  cause?: unknown;
}

/** Base of all errors of this package. `name` and `code` are stable; `message` is for people and may change. */
export class RewindError extends Error {
  /** Stable identifier, `ERR_REWIND_…`. */
  readonly code: string;

  constructor(message: string, code: string, options: CauseOptions = {}) {
    super(printable(message), "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
  }

  /** Makes `instanceof` true for errors of another copy of the package too, such as its ESM and its CommonJS build. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    // Classes that users derive have no own name to compare.
    if (!Object.hasOwn(this.prototype, "name") || !isError(value)) return false;
    const isOurs = String(fieldOf(value, "code")).startsWith("ERR_REWIND_");
    return isOurs && (this === RewindError || hasName(value, this.prototype.name));
  }
}

/** Tests by its name if a value is an error of one class. */
export type ErrorGuard<E> = (value: unknown) => value is E;

/**
 * Names an error class, on the prototype: a minifier does not change the name there, and copies of errors do not list
 * it as a field.
 * @returns the guard of the class. It compares only `name`, so it also accepts errors of other copies of the package,
 * of other realms and from recordings.
 */
export function named<E>(errorClass: { readonly prototype: E & Error }, name: string): ErrorGuard<E> {
  Object.defineProperty(errorClass.prototype, "name", { value: name, writable: true, configurable: true });
  prototypes.set(name, errorClass.prototype);
  return (value): value is E => hasName(value, name);
}

const prototypes = new Map<string, object>();

named(RewindError, "RewindError");

/** The prototype of an error class of this package, also of an entry point that is loaded later. */
export function ownPrototype(name: string): object | undefined {
  return prototypes.get(name);
}

export function hasName(value: unknown, name: string): boolean {
  return fieldOf(value, "name") === name;
}

/** `undefined` also if reading the field throws. */
function fieldOf(value: unknown, key: string): unknown {
  try {
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  } catch {
    return undefined;
  }
}

/** Formats a list for a message: `"a", "b"`. */
export function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(", ");
}

/** True for errors of all realms: in a `vm` context, the addon and Node throw errors of another realm. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || FOREIGN_ERRORS.has(Object.prototype.toString.call(value));
  } catch {
    return false;
  }
}

const FOREIGN_ERRORS = new Set(["[object Error]", "[object DOMException]"]);

/** The message of any thrown value. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    return isError(thrown) ? thrown.message : String(thrown);
  } catch {
    return "(a value that cannot be shown)";
  }
}
