// Converts errors to data. `error-revive` is the way back.

import { isError } from "../errors/base.js";
import type { ErrorInfo } from "../types/snapshot.js";
import { encodeValue } from "./encode.js";
import { classNames, isFoundByName, platformClass, privateClass } from "./error-classes.js";
import { asText, lossesOf, MAX_CAUSES, MAX_ERRORS, NOT_AN_ERROR, STANDARD_FIELDS } from "./error-format.js";
import { isObjectPrototype } from "./kinds.js";
import { setMember } from "./members.js";
import { appendToken } from "./pointer.js";

/** Longest JSON text of a recorded field. Clients attach whole responses to their errors. */
const MAX_DETAIL_LENGTH = 16_384;
/** Objects and arrays in a field are kept member by member to this depth, if they cannot be kept whole. */
const MAX_DEPTH = 4;
/** A field with more parts that cannot be kept is left out. */
const MAX_TOMBSTONES = 32;

/** Members in which clients describe the request that failed, with its credentials. They are kept whole or not at all. */
const REQUEST_FIELDS = new Set(["config", "options", "request"]);

/** Headers that are never recorded. */
const CREDENTIALS = new Set(["authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key"]);

export { fromErrorInfo } from "./error-revive.js";

/** An error as data. */
export interface DescribedError {
  readonly info: ErrorInfo;
  /** The parts that a recording cannot restore: where, and why. */
  readonly lost: readonly string[];
}

/**
 * Describes any thrown value as data. Never throws.
 *
 * For an error, the result has name, message, stack, up to 16 causes, the errors of an AggregateError, and in `details`
 * its own members that can be recorded, such as `code`. `class` names its class, and `tombstones` the parts that cannot
 * be recorded. Other values become `{ name: "NonError", details: { value } }`.
 */
export function toErrorInfo(error: unknown): ErrorInfo {
  return describeError(error).info;
}

/** `toErrorInfo` as JSON text. Never throws. */
export function errorInfoText(error: unknown): string {
  return JSON.stringify(toErrorInfo(error));
}

/** `toErrorInfo`, and what is lost by it. */
export function describeError(error: unknown): DescribedError {
  const describer = new Describer();
  return { info: describer.describe(error, "", []), lost: describer.lost };
}

/** The reason why a thrown value cannot be thrown again, such as a function. */
export function unrecordable({ tombstones }: ErrorInfo): string | undefined {
  return tombstones?.[""];
}

class Describer {
  readonly lost: string[] = [];
  #errors = MAX_ERRORS;

  /**
   * @param at where the error is in the thrown one: "", "/cause", "/errors/0", "/cause/lastError".
   * @param above the errors around it.
   */
  describe(error: unknown, at: string, above: readonly unknown[]): ErrorInfo {
    this.#errors--;
    if (!isError(error)) return this.#describeValue(error, at);
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
    const members = new Members(this, at, path);
    const cause = read(error, "cause");
    if (cause !== undefined) {
      if (this.fits(cause, path)) info.cause = this.describe(cause, `${at}/cause`, path);
      else members.bury("/cause", TOO_MANY);
    }
    const errors = isAggregate(info.name, error) ? read(error, "errors") : undefined;
    if (Array.isArray(errors)) {
      info.errors = errors.flatMap((inner, index) => {
        if (this.fits(inner, path)) return [this.describe(inner, `${at}/errors/${index}`, path)];
        members.bury(`/errors/${index}`, TOO_MANY);
        return [];
      });
    }
    members.addOwn(
      error,
      info.errors === undefined ? STANDARD_FIELDS : [...STANDARD_FIELDS, "errors"],
      text !== undefined,
    );
    const secretive = privateClass(error);
    if (secretive !== undefined) members.bury("/#", `private members of the class ${secretive}`);
    return this.#finish(error, { ...info, ...members.fields() }, (classes, { details }) =>
      isFoundByName(classes, info.name, details),
    );
  }

  fits(inner: unknown, path: readonly unknown[]): boolean {
    return path.length <= MAX_CAUSES && this.#errors > 0 && !path.includes(inner);
  }

  #describeValue(value: unknown, at: string): ErrorInfo {
    const info: ErrorInfo = { name: NOT_AN_ERROR, message: asText(value) };
    const members = new Members(this, at, [value]);
    const kept = members.keepThrown(value);
    const { details: _kept, detailsTypes, ...marks } = members.fields();
    if (kept === LOST) return { ...info, text: info.message, ...marks };
    const details = { value: kept, ...(detailsTypes === undefined ? {} : { types: detailsTypes }) };
    return this.#finish(value, { ...info, details, ...marks }, (classes) => classes.length === 0 || isPlain(value));
  }

  /** Adds the class, and what an earlier recording had already lost of the same error. */
  #finish(
    value: unknown,
    info: ErrorInfo,
    isKnown: (classes: readonly string[], info: ErrorInfo) => boolean,
  ): ErrorInfo {
    if (typeof value !== "object" || value === null) return info;
    const before = lossesOf(value);
    const classes = before?.class ?? classNames(value);
    const tombstones = { ...before?.tombstones, ...info.tombstones };
    return {
      ...info,
      ...(before?.class === undefined && isKnown(classes, info) ? {} : { class: [...classes] }),
      ...(Object.keys(tombstones).length === 0 ? {} : { tombstones }),
    };
  }
}

const TOO_MANY = `part of the error itself, deeper than ${MAX_CAUSES} levels, or more than ${MAX_ERRORS} errors`;

/** No value: it cannot be recorded. */
const LOST: unique symbol = Symbol("lost");

type Fields = Pick<ErrorInfo, "details" | "detailsTypes" | "hidden" | "symbols" | "tombstones">;

/** Collects the members of one error. */
class Members {
  readonly #describer: Describer;
  readonly #at: string;
  readonly #path: readonly unknown[];
  readonly #details: Record<string, unknown> = {};
  readonly #symbols: Record<string, unknown> = {};
  readonly #hidden: string[] = [];
  #types: Record<string, string> = {};
  #tombstones: Record<string, string> = {};

  constructor(describer: Describer, at: string, path: readonly unknown[]) {
    this.#describer = describer;
    this.#at = at;
    this.#path = path;
  }

  fields(): Fields {
    const fields = {
      details: this.#details,
      detailsTypes: this.#types,
      symbols: this.#symbols,
      tombstones: this.#tombstones,
    };
    const filled = Object.fromEntries(
      Object.entries(fields).filter(([, field]) => Object.keys(field).length > 0),
    ) as Fields;
    return this.#hidden.length === 0 ? filled : { ...filled, hidden: this.#hidden };
  }

  bury(pointer: string, reason: string): typeof LOST {
    this.#tombstones[pointer] = reason;
    this.#describer.lost.push(`${this.#at}${pointer}: ${reason}`);
    return LOST;
  }

  addOwn(error: object, except: readonly string[], hasText: boolean): void {
    for (const key of keysOf(error)) {
      const isHidden = !isEnumerable(error, key);
      if (typeof key === "symbol") this.#addSymbol(error, key, isHidden);
      else if (!except.includes(key) && !(isHidden && hasText && key === "toString")) this.#add(error, key, isHidden);
    }
  }

  #add(error: object, key: string, isHidden: boolean): void {
    const value = read(error, key);
    // A restored error without the field reads the same.
    if (value === undefined) return;
    const pointer = appendToken("", key);
    const before = { types: this.#types, tombstones: this.#tombstones, lost: this.#describer.lost.length };
    this.#types = {};
    this.#tombstones = {};
    let kept = this.#keep(value, pointer, key, 0);
    let reason: string | undefined;
    if (Object.keys(this.#tombstones).length > MAX_TOMBSTONES)
      reason = `more than ${MAX_TOMBSTONES} parts cannot be recorded`;
    else if (kept !== LOST && JSON.stringify(kept).length > MAX_DETAIL_LENGTH) {
      reason = `longer than ${MAX_DETAIL_LENGTH} characters`;
    }
    if (reason !== undefined) {
      this.#types = {};
      this.#tombstones = {};
      this.#describer.lost.length = before.lost;
      kept = this.bury(pointer, reason);
    }
    // Only methods count: what else is not enumerable is how the class works, not what it says.
    if (isHidden && typeof value !== "function") {
      this.#tombstones = {};
      this.#describer.lost.length = before.lost;
    }
    Object.assign(before.types, this.#types);
    Object.assign(before.tombstones, this.#tombstones);
    this.#types = before.types;
    this.#tombstones = before.tombstones;
    if (kept === LOST) return;
    setMember(this.#details, key, kept);
    if (isHidden) this.#hidden.push(key);
  }

  /** Registered symbols are found again by their key. Others exist only in one process. */
  #addSymbol(error: object, key: symbol, isHidden: boolean): void {
    const registered = Symbol.keyFor(key);
    const value = read(error, key);
    const encoded = encodeValue(value);
    if (registered !== undefined && "text" in encoded && encoded.types === null) {
      setMember(this.#symbols, registered, JSON.parse(encoded.text));
    } else if (!isHidden) {
      this.bury(appendToken("", String(key)), "a member with a symbol as its name");
    }
  }

  /** Keeps a thrown value that is not an error. */
  keepThrown(value: unknown): unknown {
    try {
      if (
        typeof value !== "object" ||
        value === null ||
        isPlain(value) ||
        Array.isArray(value) ||
        platformClass(value) !== undefined
      ) {
        return this.#keep(value, "", "", 0);
      }
      this.addOwn(value, [], false);
      const secretive = privateClass(value);
      if (secretive !== undefined) this.bury("/#", `private members of the class ${secretive}`);
      return this.#details;
    } catch {
      return this.bury("", "reading it threw");
    }
  }

  /** JSON of a value, whole or member by member. */
  #keep(value: unknown, pointer: string, key: string, depth: number): unknown {
    const encoded = encodeValue(value);
    if ("text" in encoded) {
      const tags = Object.entries(JSON.parse(encoded.types ?? "{}") as Record<string, string>);
      for (const [inner, tag] of tags) this.#types[`${pointer}${inner}`] = tag;
      return JSON.parse(encoded.text);
    }
    const { path, reason } = encoded.tombstone;
    const why = path === "" ? reason : `${path}: ${reason}`;
    try {
      return this.#keepParts(value, pointer, key, depth) ?? this.bury(pointer, why);
    } catch {
      return this.bury(pointer, why);
    }
  }

  /** `undefined` if the value cannot be taken apart. */
  #keepParts(value: unknown, pointer: string, key: string, depth: number): unknown {
    if (typeof value !== "object" || value === null) return undefined;
    if (isError(value)) {
      if (!this.#describer.fits(value, this.#path)) return this.bury(pointer, TOO_MANY);
      this.#types[pointer] = "error";
      const { stack: _stack, ...info } = this.#describer.describe(value, `${this.#at}${pointer}`, this.#path);
      return info;
    }
    const brand = Object.prototype.toString.call(value);
    if (brand === "[object Headers]") {
      this.#types[pointer] = "headers";
      return headerList(value as Headers);
    }
    if (brand === "[object Response]") return this.#keepResponse(value as Response, pointer);
    const isFull = Object.keys(this.#tombstones).length > MAX_TOMBSTONES;
    if (depth >= MAX_DEPTH || isFull || REQUEST_FIELDS.has(key)) return undefined;
    if (Array.isArray(value)) {
      return value.map((item: unknown, index) => {
        const kept = this.#keep(item, `${pointer}/${index}`, "", depth + 1);
        if (kept !== LOST) return kept;
        this.#types[`${pointer}/${index}`] = "undefined";
        return null;
      });
    }
    if (!isPlain(value)) return undefined;
    const members: Record<string, unknown> = {};
    for (const member of Object.keys(value)) {
      const kept = this.#keep(read(value, member), appendToken(pointer, member), member, depth + 1);
      if (kept !== LOST) setMember(members, member, kept);
    }
    return members;
  }

  #keepResponse(response: Response, pointer: string): unknown {
    this.#types[pointer] = "response";
    const { status, statusText, url, body, bodyUsed } = response;
    if (body !== null && !bodyUsed) this.bury(`${pointer}/body`, "the body of a Response");
    return { status, statusText, url, headers: headerList(response.headers), hasBody: body !== null };
  }
}

function headerList(headers: Headers): [string, string][] {
  return [...headers].filter(([name]) => !CREDENTIALS.has(name));
}

function isPlain(value: unknown): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || isObjectPrototype(prototype as object);
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

function read(target: object, key: string | symbol): unknown {
  try {
    return (target as Record<string | symbol, unknown>)[key];
  } catch {
    return undefined;
  }
}

function keysOf(target: object): (string | symbol)[] {
  try {
    return Reflect.ownKeys(target);
  } catch {
    return [];
  }
}

function isEnumerable(target: object, key: string | symbol): boolean {
  try {
    return Object.prototype.propertyIsEnumerable.call(target, key);
  } catch {
    return false;
  }
}
