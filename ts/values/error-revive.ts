// Restores errors from data.

import type { ErrorInfo } from "../types/snapshot.js";
import { decodeParsed } from "./decode.js";
import { isRecord } from "./members.js";
import type { ErrorClass } from "../types/error-class.js";
import { findClass, prototypeByName } from "./error-classes.js";
import { asText, MAX_CAUSES, MAX_ERRORS, NOT_AN_ERROR, rememberLosses, STANDARD_FIELDS } from "./error-format.js";

export interface RestoreOptions {
  /** Classes that errors come back as, in addition to those of JavaScript and of this package. The first list counts. */
  readonly classes?: readonly (readonly ErrorClass[])[];
  /** Receives what the error lacks: where, and why. Not called if nothing is missing. */
  readonly onLost?: (lost: readonly string[]) => void;
}

/**
 * Restores the value that `toErrorInfo` described: an Error with its class, name, message, stack, cause and members, or a
 * thrown value that is not an error. No constructor of a class that is not built in runs.
 */
export function fromErrorInfo(info: unknown, { classes = [], onLost }: RestoreOptions = {}): unknown {
  const reviver = new Reviver(classes);
  const error = reviver.revive(info, "", 1);
  if (reviver.lost.length > 0) onLost?.(reviver.lost);
  return error;
}

class Reviver {
  readonly lost: string[] = [];
  readonly #given: readonly (readonly ErrorClass[])[];
  #errors = MAX_ERRORS;

  constructor(given: readonly (readonly ErrorClass[])[]) {
    this.#given = given;
  }

  /** `at`: where the error is in the thrown one, as in `toErrorInfo`. */
  revive(info: unknown, at: string, depth: number): unknown {
    this.#errors--;
    if (typeof info !== "object" || info === null) return new Error(asText(info));
    const { name = "Error", message = "", stack, text, cause, errors, details } = info as Partial<ErrorInfo>;
    if (name === NOT_AN_ERROR && stack === undefined && isRecord(details) && Object.hasOwn(details, "value"))
      return this.#reviveValue(info, details, at);

    const prototype = this.#prototype(info, at) ?? prototypeByName(name, details);
    const error = emptyError(prototype, asText(name), asText(message));
    // The line above made a stack that does not show where the failure happened.
    define(error, "stack", typeof stack === "string" ? stack : `${asText(name)}: ${asText(message)}`);
    if (error.name !== name) define(error, "name", asText(name));
    const fits = (): boolean => depth <= MAX_CAUSES && this.#errors > 0;
    if (cause !== undefined && fits()) define(error, "cause", this.revive(cause, `${at}/cause`, depth + 1));
    if (Array.isArray(errors)) {
      const inner = errors.flatMap((one, index) =>
        fits() ? [this.revive(one, `${at}/errors/${index}`, depth + 1)] : [],
      );
      define(error, "errors", inner);
    }
    this.#addMembers(error, info, at, depth);
    if (text !== undefined && asText(error) !== text) define(error, "toString", () => asText(text));
    this.#note(error, info, at);
    return error;
  }

  #reviveValue(info: Partial<ErrorInfo>, { value, types }: Record<string, unknown>, at: string): unknown {
    const revived = this.#decoded(value, types, at, 1);
    if (!isRecord(revived)) return revived;
    const prototype = this.#prototype(info, at);
    if (prototype !== undefined) Object.setPrototypeOf(revived, prototype);
    addMarked(revived, info);
    this.#note(revived, info, at);
    return revived;
  }

  /** The prototype of the recorded class, or of its nearest known ancestor. `undefined` if no class is recorded. */
  #prototype({ class: names }: Partial<ErrorInfo>, at: string): object | undefined {
    if (!isList(names)) return undefined;
    const { prototype, lost } = findClass(names, this.#given);
    if (lost !== undefined) this.lost.push(`${at === "" ? "" : `${at}: `}${lost}`);
    return prototype;
  }

  #addMembers(error: Error, info: Partial<ErrorInfo>, at: string, depth: number): void {
    const { details, detailsTypes } = info;
    if (isRecord(details)) {
      const fields = this.#decoded(details, detailsTypes, at, depth) as Record<string, unknown>;
      for (const key of Object.keys(fields)) {
        if (!STANDARD_FIELDS.includes(key)) define(error, key, fields[key], true);
      }
    }
    addMarked(error, info);
  }

  #note(restored: object, { class: names, tombstones }: Partial<ErrorInfo>, at: string): void {
    const lost = isRecord(tombstones) ? tombstones : {};
    for (const [pointer, reason] of Object.entries(lost)) this.lost.push(`${at}${pointer}: ${asText(reason)}`);
    if (this.lost.length === 0) return;
    rememberLosses(restored, {
      ...(isList(names) ? { class: names } : {}),
      ...(isRecord(tombstones) ? { tombstones } : {}),
    });
  }

  #decoded(value: unknown, types: unknown, at: string, depth: number): unknown {
    return decodeParsed(structuredClone(value), isRecord(types) ? types : {}, (inner, tag, pointer) => {
      if (tag === "response") return reviveResponse(inner);
      if (tag !== "error" || depth > MAX_CAUSES || this.#errors <= 0) return undefined;
      return this.revive(inner, `${at}${pointer}`, depth + 1);
    });
  }
}

function emptyError(prototype: object | undefined, name: string, message: string): Error {
  // Its name, message and code are not members, so no other object can have them.
  const isDom = prototype === DOMException.prototype || prototype instanceof DOMException;
  const error = isDom ? new DOMException(message, name) : new Error(message);
  if (prototype !== undefined) Object.setPrototypeOf(error, prototype);
  return error;
}

/** Adds the members with registered symbols, and hides those that were not enumerable. */
function addMarked(target: object, { hidden, symbols }: Partial<ErrorInfo>): void {
  for (const key of isList(hidden) ? hidden : []) {
    if (Object.hasOwn(target, key)) Object.defineProperty(target, key, { enumerable: false });
  }
  if (!isRecord(symbols)) return;
  for (const [key, value] of Object.entries(symbols)) {
    Object.defineProperty(target, Symbol.for(key), { value, writable: true, configurable: true, enumerable: true });
  }
}

/** A Response without its body: reading that fails instead of giving another text. */
function reviveResponse(recorded: unknown): Response | undefined {
  if (!isRecord(recorded)) return undefined;
  const { status, statusText, url, headers, hasBody } = recorded;
  try {
    const init = { status, statusText, headers } as ResponseInit;
    const response = new Response(hasBody === true ? unrecordedBody() : null, init);
    define(response, "url", url);
    return response;
  } catch {
    // A status that no program can give to a Response. The fields say the same.
    return undefined;
  }
}

function unrecordedBody(): ReadableStream {
  const error = new TypeError("agent-rewind: the body of a Response in an error is not recorded");
  return new ReadableStream({ pull: (controller) => controller.error(error) }, { highWaterMark: 0 });
}

function isList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function define(target: object, key: string, value: unknown, enumerable = false): void {
  Object.defineProperty(target, key, { value, writable: true, configurable: true, enumerable });
}
