// The content of objects that a recording cannot restore, in a form that can be hashed.

import { types as brands } from "node:util";

import { isError } from "../errors/base.js";
import { isObjectPrototype, isPrototypeOf, isUrl, lostPart, SNAPSHOT, wholeKindOf, type Refusal } from "./kinds.js";

/** What an object contains. */
export interface Content {
  /** The kind of the content, and the name of the object's class if that is another one. */
  tag: string;
  /** A text, or an object or array whose members are the content. */
  value: unknown;
}

/** The state of an instance of a built-in class, or of a class derived from it. */
interface Builtin {
  /** The name of the built-in class. */
  readonly kind: string;
  readonly state: unknown;
}

/** Longest chain of classes that is looked at. */
const MAX_CLASSES = 100;

const NATIVE = /\{\s*\[native code\]\s*\}$/;

/** What shows in the source text of a class with private members. Compilers write them as WeakMaps and helpers. */
const PRIVATE = /#[\p{ID_Start}$_]|\b__private(?:Add|Get|Set)|class_?private_?(?:field|method)|\bWeak(?:Map|Set)\b/iu;

/** Classes whose entries are their state. */
const ENTRIES = new Set(["URLSearchParams", "Headers", "FormData"]);

/**
 * The content of an object: what its `toJSON` returns, the bytes, entries or text of a built-in class, or its enumerable
 * fields. A refusal if it may have state that does not show there. Errors of accessors and of `toJSON` are thrown.
 *
 * @param vouched classes whose instances have no state but their enumerable fields.
 */
export function contentOf(value: object, vouched: ReadonlySet<unknown>): Content | Refusal {
  if (Object.hasOwn(value, SNAPSHOT)) return { tag: "snapshot", reason: "a snapshot" };
  const builtin = builtinOf(value);
  const { classes, end } = classesOf(value, builtin);
  const name = nameOf(classes[0] ?? end);
  if (name === "") return { tag: "class:", reason: "instance of a class without a name" };

  const toJSON = jsonOf(value);
  // That of a built-in class shows less than its state, and that of an error its stack.
  const isDeclared = builtin?.kind !== "Error" && toJSON !== jsonOf(end);
  if (typeof toJSON === "function" && isDeclared) return contentAs(`toJSON:${name}`, toJSON.call(value, ""));

  const known = classes.findIndex(({ constructor }) => vouched.has(constructor));
  const unknown = known === -1 ? classes : classes.slice(0, known);
  const hidden =
    unknown.map(hiddenIn).find(Boolean) ?? (known === -1 ? hiddenPart(value, builtin, classes) : undefined);
  if (hidden !== undefined) return { tag: `class:${name}`, reason: `instance of ${name}: ${hidden}` };
  const symbols = symbolFields(value);
  if (builtin === undefined) {
    const tag = `instance:${name}`;
    return isEmpty(symbols) ? { tag, value } : contentAs(tag, Object.fromEntries(Object.entries(value)), {}, symbols);
  }
  const tag = name === builtin.kind ? name : `${builtin.kind}:${name}`;
  return contentAs(tag, builtin.state, fieldsBeside(value, builtin), symbols);
}

function jsonOf(holder: { readonly toJSON?: unknown } | null): unknown {
  return holder?.toJSON;
}

function contentAs(tag: string, state: unknown, fields: object = {}, symbols: object = {}): Content {
  const isBare = isEmpty(fields) && isEmpty(symbols);
  if (isBare && (typeof state === "string" || isContainer(state))) return { tag, value: state };
  const beside = { ...(isEmpty(fields) ? {} : { fields }), ...(isEmpty(symbols) ? {} : { symbols }) };
  return { tag: `+${tag}`, value: { content: state, ...beside } };
}

function isEmpty(fields: object): boolean {
  return Object.keys(fields).length === 0;
}

function isContainer(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const kind = wholeKindOf(value);
  return kind === "object" || kind === "array";
}

function builtinOf(value: object): Builtin | undefined {
  const of = (kind: string, state: unknown): Builtin => ({ kind, state });
  if (Array.isArray(value)) return of("Array", Array.from(value as unknown[]));
  if (isError(value)) return of("Error", errorState(value));
  if (brands.isMap(value)) return of("Map", Array.from(Map.prototype.entries.call(value)));
  if (brands.isSet(value)) return of("Set", Array.from(Set.prototype.values.call(value)));
  if (brands.isRegExp(value)) return of("RegExp", [value.source, value.flags, value.lastIndex]);
  if (brands.isDate(value)) return of("Date", [Date.prototype.getTime.call(value)]);
  if (brands.isTypedArray(value)) return of(value[Symbol.toStringTag], base64(value));
  if (brands.isDataView(value)) return of("DataView", base64(value));
  if (brands.isArrayBuffer(value)) return of("ArrayBuffer", base64(new Uint8Array(value)));
  if (brands.isSharedArrayBuffer(value)) return of("SharedArrayBuffer", base64(new Uint8Array(value)));
  if (isUrl(value)) return of("URL", value.href);
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  return ENTRIES.has(tag) ? of(tag, Array.from((value as Headers).entries())) : undefined;
}

/** Without the stack, which changes with the code around the error. */
function errorState(error: Error): object {
  const { name, message } = error;
  const own = ["cause", "errors"].filter((key) => Object.hasOwn(error, key)).concat(Object.keys(error));
  const fields = own.filter((key) => key !== "stack").map((key) => [key, error[key as keyof Error]] as const);
  return { name, message, ...Object.fromEntries(fields) };
}

function base64({ buffer, byteOffset, byteLength }: NodeJS.ArrayBufferView): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

/** The fields that an instance of a built-in class has in addition to its state. */
function fieldsBeside(value: object, { kind }: Builtin): Record<string, unknown> {
  if (kind === "Error" || brands.isTypedArray(value)) return {};
  const keys = Object.keys(value).slice(Array.isArray(value) ? value.length : 0);
  return Object.fromEntries(keys.map((key) => [key, (value as Record<string, unknown>)[key]]));
}

/** The prototypes of the classes of an object, up to that of a built-in one, which is `end`. */
function classesOf(value: object, builtin: Builtin | undefined): { classes: object[]; end: object | null } {
  const classes: object[] = [];
  let prototype: object | null = Object.getPrototypeOf(value);
  while (prototype !== null && !isObjectPrototype(prototype) && !isBuiltin(prototype, builtin)) {
    classes.push(prototype);
    if (classes.length > MAX_CLASSES) throw new RangeError(`its class extends more than ${MAX_CLASSES} classes`);
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return { classes, end: prototype };
}

function isBuiltin(prototype: object, builtin: Builtin | undefined): boolean {
  if (builtin === undefined) return false;
  const { kind } = builtin;
  if (kind === "Error") return nameOf(prototype) === "DOMException" || NATIVE.test(sourceOf(prototype));
  if (prototype === Buffer.prototype) return true;
  // Typed arrays have a class of their own in common.
  return isPrototypeOf(prototype, kind, 2) || isPrototypeOf(prototype, kind, 3);
}

/** The name of the class with this prototype; "" if it has none. */
function nameOf(prototype: object | null): string {
  if (prototype === null) return "Object";
  const name: unknown = sourceOf(prototype) === "" ? "" : prototype.constructor.name;
  return typeof name === "string" ? name : "";
}

/** The source text of the class with this prototype; "" if it is not the prototype of a class. */
function sourceOf(prototype: object): string {
  const constructor: unknown = Object.hasOwn(prototype, "constructor") ? prototype.constructor : undefined;
  return typeof constructor === "function" ? Function.prototype.toString.call(constructor) : "";
}

const inspected = new WeakMap<object, { readonly hidden: string | undefined }>();

/** Why instances of the class with this prototype may have state that is not in their fields. */
function hiddenIn(prototype: object): string | undefined {
  let known = inspected.get(prototype);
  if (known === undefined) inspected.set(prototype, (known = { hidden: inspect(prototype) }));
  return known.hidden;
}

function inspect(prototype: object): string | undefined {
  const name = nameOf(prototype);
  if (name === "") return "its prototype is not that of a class with a name";
  const source = sourceOf(prototype);
  if (NATIVE.test(source)) return `${name} is built in`;
  const sign = PRIVATE.exec(source)?.[0];
  if (sign !== undefined) return `the source text of ${name} has a sign of private members, "${sign}"`;
  const accessor = Reflect.ownKeys(prototype).find((key) => isAccessor(prototype, key));
  return accessor === undefined ? undefined : `${name} has the accessor ${String(accessor)}`;
}

function isAccessor(holder: object, key: string | symbol): boolean {
  return Object.getOwnPropertyDescriptor(holder, key)?.writable === undefined;
}

/** Why an object may have state that is not in its content. */
function hiddenPart(value: object, builtin: Builtin | undefined, classes: readonly object[]): string | undefined {
  if (Array.isArray(value) && isSparse(value)) return "it is sparse";
  if (brands.isTypedArray(value) && lostPart(value, "") !== undefined)
    return "it has fields in addition to its elements";
  const keys: (string | symbol)[] =
    builtin === undefined && classes.length > 0
      ? Reflect.ownKeys(value)
      : Object.getOwnPropertySymbols(value).filter((key) => isEnumerable(value, key));
  // Node keeps the entries under symbols.
  if (builtin !== undefined && ENTRIES.has(builtin.kind)) return undefined;
  const hidden = keys.find((key) => !isEnumerable(value, key) || !hasName(key));
  if (hidden === undefined) return undefined;
  return `its field ${String(hidden)} is not enumerable, or is a symbol that Symbol.for did not make`;
}

/** The enumerable fields whose keys are symbols of Symbol.for, by their names. */
function symbolFields(value: object): Record<string, unknown> {
  const keys = Object.getOwnPropertySymbols(value).filter((key) => isEnumerable(value, key) && hasName(key));
  return Object.fromEntries(keys.map((key) => [Symbol.keyFor(key), (value as Record<symbol, unknown>)[key]]));
}

function hasName(key: string | symbol): boolean {
  return typeof key === "string" || Symbol.keyFor(key) !== undefined;
}

function isEnumerable(value: object, key: string | symbol): boolean {
  return Object.prototype.propertyIsEnumerable.call(value, key);
}

function isSparse(value: readonly unknown[]): boolean {
  return value.length > 0 && Object.keys(value)[value.length - 1] !== String(value.length - 1);
}
