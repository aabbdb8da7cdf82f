// Classifies objects by brand and prototype chain, because instanceof fails for objects of other realms.

import { isDeepStrictEqual, types as brands } from "node:util";

/** Marks snapshots of all copies of the package. A snapshot contains a recording and is not recorded itself. */
export const SNAPSHOT: unique symbol = Symbol.for("agent-rewind.snapshot");

/** The type of a value that JSON cannot represent, in `types`. */
export type TypeTag =
  | "undefined"
  | "date"
  | "bigint"
  /** NaN and the infinities, written as strings; -0, written as 0. */
  | "number"
  | "map"
  | "set"
  /** A Uint8Array, written as base64. */
  | "bytes"
  /** A Buffer, written as base64. */
  | "buffer"
  /** An ArrayBuffer, written as base64. */
  | "arraybuffer"
  | "url";

/** Why a value cannot be recorded: a short tag for hashing, and a text for people. */
export interface Refusal {
  tag: string;
  reason: string;
}

export type ObjectKind = "object" | "array" | "date" | "map" | "set" | "bytes" | "buffer" | "arraybuffer" | "url";

/**
 * Returns the kind of an object, or the reason why a recording cannot restore all of it. Errors of Proxies are thrown.
 */
export function wholeKindOf(value: object): ObjectKind | Refusal {
  const kind = kindOf(value);
  return typeof kind === "object" ? kind : (lostPart(value, kind) ?? kind);
}

/** As {@link wholeKindOf}, but ignores what JSON leaves out: symbol keys, and fields of a Date, a Map or bytes. */
export function kindOf(value: object): ObjectKind | Refusal {
  const kind = classify(value);
  return typeof kind === "object" && isBareDate(value) ? "date" : kind;
}

/**
 * The part of an object that the recorded form of this kind does not contain.
 * @param kind for the message.
 */
export function lostPart(value: object, kind: string): Refusal | undefined {
  const isEnumerable = (key: symbol): boolean => Object.prototype.propertyIsEnumerable.call(value, key);
  const symbol = Object.getOwnPropertySymbols(value).find(isEnumerable);
  if (symbol !== undefined) return { tag: "symbol-key", reason: `${kind} with the key ${String(symbol)}` };
  if (kind === "object" || kind === "array") return undefined;
  if (brands.isTypedArray(value)) {
    if (hasOnlyElements(value)) return undefined;
    return { tag: "property", reason: `${kind} with fields in addition to its elements` };
  }
  const [key] = Object.keys(value);
  if (key === undefined) return undefined;
  return { tag: "property", reason: `${kind} with the field ${JSON.stringify(key)}` };
}

/** A list of its keys would name each element. */
function hasOnlyElements(value: NodeJS.TypedArray): boolean {
  const Elements = globalThis[value[Symbol.toStringTag]];
  const copy = new Elements(value.byteLength / Elements.BYTES_PER_ELEMENT);
  new Uint8Array(copy.buffer).set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  Object.setPrototypeOf(copy, Object.getPrototypeOf(value) as object);
  return isDeepStrictEqual(value, copy);
}

/** True for a Date of a class that adds nothing to it, such as the `Date` of a faked clock. */
function isBareDate(value: object): boolean {
  if (!brands.isDate(value)) return false;
  const addsNothing = (part: object): boolean => Reflect.ownKeys(part).every((key) => key === "constructor");
  if (!addsNothing(value)) return false;
  let prototype: object | null = Object.getPrototypeOf(value);
  while (prototype !== null && !isPrototypeOf(prototype, "Date", 2)) {
    if (!addsNothing(prototype)) return false;
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return prototype !== null;
}

/**
 * Returns the kind of an object by its brand and prototype, or the reason why it cannot be recorded. Recordings without
 * replay flag 5 are hashed by it, so it must stay as it is.
 */
export function classify(value: object): ObjectKind | Refusal {
  if (Array.isArray(value)) return classifyArray(value);
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === null || isObjectPrototype(prototype)) {
    if (typeof (value as { toJSON?: unknown }).toJSON !== "function") return "object";
    if (Object.hasOwn(value, SNAPSHOT)) return { tag: "snapshot", reason: "a snapshot" };
    return { tag: "toJSON", reason: "object with a toJSON method" };
  }
  if (brands.isDate(value) && isPrototypeOf(prototype, "Date", 2)) return "date";
  if (brands.isMap(value) && isPrototypeOf(prototype, "Map", 2)) return "map";
  if (brands.isSet(value) && isPrototypeOf(prototype, "Set", 2)) return "set";
  if (brands.isUint8Array(value)) {
    if (isPrototypeOf(prototype, "Uint8Array", 3)) return "bytes";
    if (prototype === Buffer.prototype) return "buffer";
  }
  if (brands.isArrayBuffer(value) && isPrototypeOf(prototype, "ArrayBuffer", 2)) return "arraybuffer";
  if (isUrl(value) && isPrototypeOf(prototype, "URL", 2)) return "url";
  const name = className(value);
  return { tag: `class:${name}`, reason: name === "" ? "instance of a class without a name" : `instance of ${name}` };
}

function classifyArray(value: unknown[]): ObjectKind | Refusal {
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype !== Array.prototype && (prototype === null || !isPrototypeOf(prototype, "Array", 2))) {
    const name = className(value);
    return { tag: `class:${name}`, reason: `array of the class ${name || "without a name"}` };
  }
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") {
    return { tag: "toJSON", reason: "array with a toJSON method" };
  }
  const keys = Object.keys(value);
  if (keys.length < value.length) return { tag: "sparse", reason: "sparse array" };
  const extra = keys[value.length];
  if (extra !== undefined) {
    return {
      tag: "array-property",
      reason: `array with the property ${JSON.stringify(extra)} in addition to its elements`,
    };
  }
  return "array";
}

export function isObjectPrototype(prototype: object): boolean {
  return (
    prototype === Object.prototype ||
    (Object.hasOwn(prototype, "hasOwnProperty") && isPrototypeOf(prototype, "Object", 1))
  );
}

/** True for the prototype of that built-in class in any realm, but not of a class derived from it. */
export function isPrototypeOf(prototype: object, name: string, chainLength: number): boolean {
  const { constructor } = prototype;
  if (!Object.hasOwn(prototype, "constructor") || typeof constructor !== "function" || constructor.name !== name)
    return false;
  let length = 0;
  for (let link: object | null = prototype; link !== null; link = Object.getPrototypeOf(link)) {
    length++;
    if (length > chainLength) return false;
  }
  return length === chainLength;
}

export function isUrl(value: object): value is URL {
  return (
    Object.prototype.toString.call(value) === "[object URL]" && typeof (value as { href?: unknown }).href === "string"
  );
}

function className(value: object): string {
  try {
    const name: unknown = value.constructor.name;
    return typeof name === "string" ? name : "";
  } catch {
    return "";
  }
}
