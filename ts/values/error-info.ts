// Converts errors to data and back.

import { isError } from "../errors/base.js";
import * as ours from "../errors/index.js";
import type { ErrorInfo } from "../types/snapshot.js";
import { decodeParsed, decodeValue } from "./decode.js";
import { encodeValue } from "./encode.js";
import { appendToken } from "./pointer.js";

/** Longest chain of causes that is recorded. */
const MAX_CAUSES = 16;
/** Largest number of recorded errors, including causes and the errors of AggregateErrors. */
const MAX_ERRORS = 128;
/** Longest JSON text of a recorded field. Clients attach whole responses to their errors. */
const MAX_DETAIL_LENGTH = 16_384;

/** `name` of a thrown value that is not an error. */
const NOT_AN_ERROR = "NonError";

/**
 * Describes any thrown value as data. Never throws.
 *
 * For an error, the result has name, message, stack, up to 16 causes, the errors of an AggregateError, and in `details`
 * its own fields that can be recorded, such as `code`. Other values become `{ name: "NonError", details: { value } }`.
 */
export function toErrorInfo(error: unknown): ErrorInfo {
  return describe(error, [], { errors: MAX_ERRORS });
}

/** `toErrorInfo` as JSON text. Never throws. */
export function errorInfoText(error: unknown): string {
  return JSON.stringify(toErrorInfo(error));
}

/**
 * Restores the value that `toErrorInfo` described: an Error with its name, message, stack, cause and fields, or a thrown
 * value that is not an error. Errors of JavaScript and of this package get their class; others are Errors with the name
 * of their class.
 */
export function fromErrorInfo(info: unknown): unknown {
  return revive(info, { errors: MAX_ERRORS }, 1);
}

/** Number of errors that may still be described or restored. */
interface Budget {
  errors: number;
}

function describe(error: unknown, above: readonly unknown[], budget: Budget): ErrorInfo {
  budget.errors--;
  if (!isError(error)) return describeValue(error);
  const name = read(error, "name");
  const message = read(error, "message");
  const stack = read(error, "stack");
  const info: ErrorInfo = {
    name: typeof name === "string" ? name : "Error",
    message: message === undefined ? "" : asText(message),
  };
  const text = ownText(error, info);
  if (text !== undefined) info.text = text;
  if (typeof stack === "string") info.stack = stack;

  const path = [...above, error];
  const fits = (inner: unknown): boolean => path.length <= MAX_CAUSES && budget.errors > 0 && !path.includes(inner);
  const cause = read(error, "cause");
  if (cause !== undefined && fits(cause)) info.cause = describe(cause, path, budget);
  const errors = isAggregate(info.name, error) ? read(error, "errors") : undefined;
  if (Array.isArray(errors)) {
    info.errors = errors.flatMap((inner) => (fits(inner) ? [describe(inner, path, budget)] : []));
  }
  return { ...info, ...detailsOf(error, info.errors === undefined ? STANDARD_FIELDS : [...STANDARD_FIELDS, "errors"]) };
}

const STANDARD_FIELDS = ["name", "message", "stack", "cause"];

function describeValue(value: unknown): ErrorInfo {
  const info: ErrorInfo = { name: NOT_AN_ERROR, message: asText(value) };
  const encoded = encodeValue(value);
  if ("tombstone" in encoded) return { ...info, text: info.message };
  const details: Record<string, unknown> = { value: JSON.parse(encoded.text) };
  if (encoded.types !== null) details["types"] = JSON.parse(encoded.types);
  return { ...info, details };
}

/** Own enumerable fields that can be restored. */
function detailsOf(error: Error, except: readonly string[]): Pick<ErrorInfo, "details" | "detailsTypes"> {
  const details: Record<string, unknown> = {};
  const types: Record<string, string> = {};
  for (const key of keysOf(error)) {
    const value = read(error, key);
    // A restored error without the field reads the same.
    if (value === undefined || except.includes(key)) continue;
    const encoded = encodeValue(value);
    if ("tombstone" in encoded || encoded.text.length > MAX_DETAIL_LENGTH) continue;
    define(details, key, JSON.parse(encoded.text), true);
    if (encoded.types === null) continue;
    const tags = JSON.parse(encoded.types) as Record<string, string>;
    for (const pointer of Object.keys(tags)) types[`${appendToken("", key)}${pointer}`] = tags[pointer] as string;
  }
  if (Object.keys(details).length === 0) return {};
  return Object.keys(types).length === 0 ? { details } : { details, detailsTypes: types };
}

/** The result of String(error), if it is not "name: message". */
function ownText(error: Error, { name, message }: ErrorInfo): string | undefined {
  const text = asText(error);
  const usual = name === "" ? message : message === "" ? name : `${name}: ${message}`;
  return text === usual ? undefined : text;
}

function revive(info: unknown, budget: Budget, depth: number): unknown {
  budget.errors--;
  if (typeof info !== "object" || info === null) return new Error(asText(info));
  const {
    name = "Error",
    message = "",
    stack,
    text,
    cause,
    errors,
    details,
    detailsTypes,
  } = info as Partial<ErrorInfo>;
  if (name === NOT_AN_ERROR && stack === undefined && isRecord(details) && Object.hasOwn(details, "value"))
    return reviveValue(details);

  const error = new Error(asText(message));
  const prototype = prototypeOf(name, details);
  if (prototype !== undefined) Object.setPrototypeOf(error, prototype);
  // The line above made a stack that does not show where the failure happened.
  define(error, "stack", typeof stack === "string" ? stack : `${asText(name)}: ${asText(message)}`);
  if (error.name !== name) define(error, "name", asText(name));
  if (text !== undefined) define(error, "toString", () => asText(text));
  const fits = (): boolean => depth <= MAX_CAUSES && budget.errors > 0;
  if (cause !== undefined && fits()) define(error, "cause", revive(cause, budget, depth + 1));
  if (Array.isArray(errors)) {
    define(
      error,
      "errors",
      errors.flatMap((inner) => (fits() ? [revive(inner, budget, depth + 1)] : [])),
    );
  }
  if (isRecord(details)) {
    const fields = decodeParsed(structuredClone(details), isRecord(detailsTypes) ? detailsTypes : {}) as typeof details;
    for (const key of Object.keys(fields)) {
      if (!STANDARD_FIELDS.includes(key)) define(error, key, fields[key], true);
    }
  }
  return error;
}

function reviveValue(details: Record<string, unknown>): unknown {
  const { value, types } = details;
  return decodeValue(JSON.stringify(value), isRecord(types) ? JSON.stringify(types) : null);
}

const nativePrototypes = new Map<string, object>(
  [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError].map(
    ({ name, prototype }) => [name, prototype],
  ),
);

const ourPrototypes = new Map<string, object>(
  Object.values(ours).flatMap(({ prototype }): [string, object][] =>
    prototype instanceof ours.RewindError || prototype === ours.RewindError.prototype
      ? [[prototype.name, prototype]]
      : [],
  ),
);

function prototypeOf(name: string, details: unknown): object | undefined {
  // Other packages have an AbortError or a LimitError too, so the name is not enough.
  const code = isRecord(details) ? details["code"] : undefined;
  if (typeof code === "string" && code.startsWith("ERR_REWIND_")) return ourPrototypes.get(name);
  return nativePrototypes.get(name);
}

function isAggregate(name: string, error: Error): boolean {
  return name === "AggregateError" || error instanceof AggregateError;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function read(error: Error, key: string): unknown {
  try {
    return (error as unknown as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

function keysOf(error: Error): string[] {
  try {
    return Object.keys(error);
  } catch {
    return [];
  }
}

function asText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "(a value that cannot be shown)";
  }
}

function define(target: object, key: string, value: unknown, enumerable = false): void {
  Object.defineProperty(target, key, { value, writable: true, configurable: true, enumerable });
}
