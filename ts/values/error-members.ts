// The members of errors as data: one by one, with types, and with the reason for each part that cannot be kept.

import { isError } from "../errors/base.js";
import type { ErrorInfo } from "../types/snapshot.js";
import { encodeValue } from "./encode.js";
import { classNames, platformClass, privateClass } from "./error-classes.js";
import { isObjectPrototype } from "./kinds.js";
import { setMember } from "./members.js";
import { appendToken } from "./pointer.js";

/** Longest JSON text of a recorded member. Clients attach whole responses to their errors. */
const MAX_DETAIL_LENGTH = 16_384;
/** Objects and arrays in a member are kept part by part to this depth, if they cannot be kept whole. */
const MAX_DEPTH = 4;
/** A member with more parts that cannot be kept is left out. */
const MAX_TOMBSTONES = 32;

/** Members in which clients describe the request that failed, with its credentials. They are kept whole or not at all. */
const REQUEST_FIELDS = new Set(["config", "options", "request"]);

/** Headers that are never recorded. */
const CREDENTIALS = new Set(["authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key"]);

const SYMBOL = "a member with a symbol as its name";

/** No value: it cannot be recorded. */
export const LOST: unique symbol = Symbol("lost");

/** Describes an error inside of another one. Returns the reason if it cannot. */
export type DescribeInner = (error: Error) => ErrorInfo | string;

/** One value as JSON, with its types and the reasons for what is missing, both by JSON pointer. */
class Part {
  readonly types: Record<string, string> = {};
  readonly tombstones: Record<string, string> = {};
  readonly #describeInner: DescribeInner;
  readonly #isHidden: boolean;

  constructor(describeInner: DescribeInner, isHidden: boolean) {
    this.#describeInner = describeInner;
    this.#isHidden = isHidden;
  }

  /** JSON of a value, whole or part by part; LOST if nothing of it can be kept. */
  keep(value: unknown, pointer: string, key = "", depth = 0): unknown {
    const encoded = encodeValue(value);
    if ("text" in encoded) {
      const tags = Object.entries(JSON.parse(encoded.types ?? "{}") as Record<string, string>);
      for (const [inner, tag] of tags) this.types[`${pointer}${inner}`] = tag;
      return JSON.parse(encoded.text);
    }
    const { path, reason } = encoded.tombstone;
    const why = path === "" ? reason : `${path}: ${reason}`;
    try {
      return this.#keepParts(value, pointer, { key, depth, isOwn: path === "" }) ?? this.bury(pointer, why);
    } catch {
      return this.bury(pointer, why);
    }
  }

  bury(pointer: string, reason: string): typeof LOST {
    this.tombstones[pointer] = reason;
    return LOST;
  }

  /** `undefined` if the value cannot be taken apart. `isOwn`: the reason is in the value itself, not in a part of it. */
  #keepParts(
    value: unknown,
    pointer: string,
    { key, depth, isOwn }: { key: string; depth: number; isOwn: boolean },
  ): unknown {
    if (typeof value !== "object" || value === null) return undefined;
    if (isError(value)) {
      const info = this.#describeInner(value);
      if (typeof info === "string") return this.bury(pointer, info);
      this.types[pointer] = "error";
      const { stack: _stack, ...rest } = info;
      return rest;
    }
    const brand = Object.prototype.toString.call(value);
    if (brand === "[object Headers]") {
      this.types[pointer] = "headers";
      return headerList(value as Headers);
    }
    if (brand === "[object Response]") return this.#keepResponse(value as Response, pointer);
    if (depth >= MAX_DEPTH || REQUEST_FIELDS.has(key)) return undefined;
    if (Array.isArray(value)) {
      if (isOwn) return undefined;
      const items: unknown[] = [];
      for (const item of value as unknown[]) {
        const at = `${pointer}/${items.length}`;
        const kept = this.keep(item, at, "", depth + 1);
        if (this.isFull) return undefined;
        if (kept === LOST) this.types[at] = "undefined";
        items.push(kept === LOST ? null : kept);
      }
      return items;
    }
    // zod keeps what makes an error a ZodError in a hidden object whose prototype belongs to no class.
    if (!isPlain(value) && !(this.#isHidden && classNames(value).every((name) => name === ""))) {
      return this.#keepInstance(value, pointer);
    }
    const members: Record<string, unknown> = {};
    for (const member of Object.keys(value)) {
      if (CREDENTIALS.has(member.toLowerCase())) continue;
      const kept = this.keep(read(value, member), appendToken(pointer, member), member, depth + 1);
      if (this.isFull) return undefined;
      if (kept !== LOST) setMember(members, member, kept);
    }
    for (const symbol of Object.getOwnPropertySymbols(value)) {
      if (isEnumerable(value, symbol)) this.bury(appendToken(pointer, String(symbol)), SYMBOL);
    }
    return members;
  }

  /** The members of an instance as those of a plain object, if each can be kept, such as the headers of a response. */
  #keepInstance(value: object, pointer: string): unknown {
    if (!isInstance(value) || privateClass(value) !== undefined) return undefined;
    const members = Object.entries(value).filter(([member]) => !CREDENTIALS.has(member.toLowerCase()));
    const encoded = encodeValue(Object.fromEntries(members));
    if (members.length === 0 || "tombstone" in encoded) return undefined;
    this.bury(pointer, `instance of ${classNames(value)[0] || "a class without a name"} (came back as Object)`);
    return this.keep(Object.fromEntries(members), pointer);
  }

  /** True if so much cannot be kept that the value is left out. */
  get isFull(): boolean {
    return Object.keys(this.tombstones).length > MAX_TOMBSTONES;
  }

  #keepResponse(response: Response, pointer: string): unknown {
    this.types[pointer] = "response";
    const { status, statusText, url, body, bodyUsed } = response;
    if (body !== null && !bodyUsed) this.bury(`${pointer}/body`, "the body of a Response");
    return { status, statusText, url, headers: headerList(response.headers), hasBody: body !== null };
  }
}

export type MemberFields = Pick<ErrorInfo, "details" | "detailsTypes" | "hidden" | "symbols" | "tombstones">;

/** Collects the own members of an error, or of another thrown object. */
export class Members {
  readonly tombstones: Record<string, string> = {};
  readonly #describeInner: DescribeInner;
  readonly #details: Record<string, unknown> = {};
  readonly #types: Record<string, string> = {};
  readonly #symbols: Record<string, unknown> = {};
  readonly #hidden: string[] = [];

  constructor(describeInner: DescribeInner) {
    this.#describeInner = describeInner;
  }

  get fields(): MemberFields {
    const fields = {
      details: this.#details,
      detailsTypes: this.#types,
      symbols: this.#symbols,
      tombstones: this.tombstones,
    };
    const filled = Object.entries(fields).filter(([, field]) => Object.keys(field).length > 0);
    return { ...Object.fromEntries(filled), ...(this.#hidden.length === 0 ? {} : { hidden: this.#hidden }) };
  }

  addOwn(target: object, except: readonly string[]): void {
    for (const key of keysOf(target)) {
      const isHidden = !isEnumerable(target, key);
      if (typeof key === "symbol") this.#addSymbol(target, key, isHidden);
      else if (!except.includes(key)) this.#add(target, key, isHidden);
    }
    const secretive = privateClass(target);
    if (secretive !== undefined) this.tombstones["/#"] = `private members of the class ${secretive}`;
  }

  /** Keeps a thrown value that is not an error, and returns it as JSON; LOST if nothing of it can be kept. */
  addThrown(value: unknown): unknown {
    try {
      if (isInstance(value)) {
        this.addOwn(value, []);
        return this.#details;
      }
    } catch {
      // A Proxy threw. The encoder finds the reason.
    }
    return this.#merge(new Part(this.#describeInner, false), value, "");
  }

  #add(target: object, key: string, isHidden: boolean): void {
    const value = read(target, key);
    // A restored error without the field reads the same.
    if (value === undefined) return;
    const kept = this.#merge(new Part(this.#describeInner, isHidden), value, appendToken("", key), key, isHidden);
    if (kept === LOST) return;
    setMember(this.#details, key, kept);
    if (isHidden) this.#hidden.push(key);
  }

  #merge(part: Part, value: unknown, pointer: string, key = "", isHidden = false): unknown {
    const kept = part.keep(value, pointer, key);
    const reason = excess(part, kept);
    if (reason === undefined) Object.assign(this.#types, part.types);
    // Of hidden members only methods count: the others are how a class works, not what an error says.
    if (!isHidden || typeof value === "function") {
      Object.assign(this.tombstones, reason === undefined ? part.tombstones : { [pointer]: reason });
    }
    return reason === undefined ? kept : LOST;
  }

  /** Registered symbols are found again by their key. Others exist only in one process. */
  #addSymbol(target: object, key: symbol, isHidden: boolean): void {
    const registered = Symbol.keyFor(key);
    const encoded = encodeValue(read(target, key));
    if (registered !== undefined && "text" in encoded && encoded.types === null) {
      setMember(this.#symbols, registered, JSON.parse(encoded.text));
    } else if (!isHidden) {
      this.tombstones[appendToken("", String(key))] = SYMBOL;
    }
  }
}

/** Why a member is too large to be kept. */
function excess({ isFull }: Part, kept: unknown): string | undefined {
  if (isFull) return `more than ${MAX_TOMBSTONES} parts cannot be recorded`;
  const isLong = kept !== LOST && JSON.stringify(kept).length > MAX_DETAIL_LENGTH;
  return isLong ? `longer than ${MAX_DETAIL_LENGTH} characters` : undefined;
}

/** True for an instance of a class that keeps its state in its members. */
function isInstance(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !isPlain(value) && platformClass(value) === undefined;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || isObjectPrototype(prototype);
}

function headerList(headers: Headers): [string, string][] {
  return [...headers].filter(([name]) => !CREDENTIALS.has(name));
}

export function read(target: object, key: string | symbol): unknown {
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
