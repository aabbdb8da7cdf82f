// Converts errors to data. `error-revive` is the way back.

import { isError } from "../errors/base.js";
import type { ErrorInfo } from "../types/snapshot.js";
import { classNames, isFoundByName, platformClass } from "./error-classes.js";
import { asText, lossesOf, MAX_CAUSES, MAX_ERRORS, NOT_AN_ERROR, STANDARD_FIELDS } from "./error-format.js";
import { LOST, Members, read } from "./error-members.js";
import { valueAt } from "./pointer.js";

export { fromErrorInfo } from "./error-revive.js";

/**
 * Describes any thrown value as data. Never throws.
 *
 * For an error, the result has name, message, stack, up to 16 causes, the errors of an AggregateError, and in `details`
 * its own members that can be recorded, such as `code`. `class` names its class, and `tombstones` the parts that cannot
 * be recorded. Other values become `{ name: "NonError", details: { value } }`.
 */
export function toErrorInfo(error: unknown): ErrorInfo {
  return describe(error, [], { errors: MAX_ERRORS });
}

export function errorInfoText(error: unknown): string {
  return JSON.stringify(toErrorInfo(error));
}

/** The reason why a thrown value cannot be thrown again, such as "function". */
export function unrecordable({ tombstones }: ErrorInfo): string | undefined {
  return tombstones?.[""];
}

/** The parts of an error that its description lacks: where, and why. */
export function lostParts({ tombstones, cause, errors, details, detailsTypes }: ErrorInfo, at = ""): string[] {
  const inner = Object.entries(detailsTypes ?? {}).filter(([, tag]) => tag === "error");
  return [
    ...Object.entries(tombstones ?? {}).map(([pointer, reason]) => `${at}${pointer}: ${reason}`),
    ...(cause === undefined ? [] : lostParts(cause, `${at}/cause`)),
    ...(errors ?? []).flatMap((error, index) => lostParts(error, `${at}/errors/${index}`)),
    ...inner.flatMap(([pointer]) => lostParts(valueAt(details, pointer) as ErrorInfo, `${at}${pointer}`)),
  ];
}

/** Number of errors that may still be described. */
interface Budget {
  errors: number;
}

const TOO_MANY = `part of the error itself, deeper than ${MAX_CAUSES} levels, or more than ${MAX_ERRORS} errors`;

function describe(error: unknown, above: readonly unknown[], budget: Budget): ErrorInfo {
  budget.errors--;
  const path = [...above, error];
  const inside = (inner: unknown): ErrorInfo | string =>
    path.length <= MAX_CAUSES && budget.errors > 0 && !path.includes(inner) ? describe(inner, path, budget) : TOO_MANY;
  const members = new Members(inside);
  if (!isError(error)) return describeValue(error, members);
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

  const cause = read(error, "cause");
  const described = cause === undefined ? undefined : inside(cause);
  if (typeof described === "string") members.tombstones["/cause"] = described;
  else if (described !== undefined) info.cause = described;
  const errors = isAggregate(info.name, error) ? read(error, "errors") : undefined;
  if (Array.isArray(errors)) {
    info.errors = errors.map(inside).filter((inner) => typeof inner !== "string");
    if (info.errors.length < errors.length) members.tombstones["/errors"] = TOO_MANY;
  }
  const known = [...STANDARD_FIELDS, ...(info.errors === undefined ? [] : ["errors"])];
  members.addOwn(error, text === undefined ? known : [...known, "toString"]);
  const whole = { ...info, ...members.fields };
  return withClass(error, whole, (names) => isFoundByName(names, info.name, whole.details));
}

function describeValue(value: unknown, members: Members): ErrorInfo {
  const info: ErrorInfo = { name: NOT_AN_ERROR, message: asText(value) };
  const kept = members.addThrown(value);
  const { details: _kept, detailsTypes, ...marks } = members.fields;
  if (kept === LOST) return { ...info, text: info.message, ...marks };
  const details = { value: kept, ...(detailsTypes === undefined ? {} : { types: detailsTypes }) };
  return withClass(
    value,
    { ...info, details, ...marks },
    (names) => names.length === 0 || platformClass(value as object) !== undefined,
  );
}

/** Adds the class, if the description does not tell it, and what an earlier recording of the same error lacked. */
function withClass(value: unknown, info: ErrorInfo, isTold: (names: readonly string[]) => boolean): ErrorInfo {
  if (typeof value !== "object" || value === null) return info;
  const before = lossesOf(value);
  const names = before?.class ?? classNames(value);
  const tombstones = { ...before?.tombstones, ...info.tombstones };
  return {
    ...info,
    ...(before?.class === undefined && isTold(names) ? {} : { class: [...names] }),
    ...(Object.keys(tombstones).length === 0 ? {} : { tombstones }),
  };
}

/** The result of String(error), if it is not "name: message". */
function ownText(error: Error, { name, message }: ErrorInfo): string | undefined {
  const text = asText(error);
  const usual = name === "" ? message : message === "" ? name : `${name}: ${message}`;
  return text === usual ? undefined : text;
}

function isAggregate(name: string, error: Error): boolean {
  return name === "AggregateError" || error instanceof AggregateError;
}
