// The classes of recorded errors, by their names and those of their ancestors.

import { ownPrototype } from "../errors/base.js";
import { received } from "../errors/received.js";
import type { ErrorClass } from "../types/error-class.js";

/** @throws TypeError that names the entry that is not a class. */
export function checkErrorClasses(errors: unknown, option: string): void {
  if (errors === undefined) return;
  if (!Array.isArray(errors))
    throw new TypeError(`${option} must be an array of classes, received ${received(errors)}`);
  errors.forEach((given: unknown, index) => {
    if (!isClass(given)) throw new TypeError(`${option}[${index}] must be a class, received ${received(given)}`);
  });
}

/** The names of an object's class and of its ancestors, without Object. Never throws. */
export function classNames(value: object): readonly string[] {
  return familyOf(value).names;
}

/** The first class of an object whose source text has private members (`#name`): nothing can copy them. */
export function privateClass(value: object): string | undefined {
  return familyOf(value).privateClass;
}

/** The first class of an object that belongs to the platform: its state is not in its members. */
export function platformClass(value: object): string | undefined {
  return familyOf(value).platformClass;
}

/** The prototype that an error has if its recording names no classes: it is found by the name of the error. */
export function prototypeByName(name: string, details: unknown): object | undefined {
  // Other packages have an AbortError or a LimitError too, so the name is not enough.
  const code = typeof details === "object" && details !== null ? (details as { code?: unknown }).code : undefined;
  if (typeof code === "string" && code.startsWith("ERR_REWIND_")) return ownPrototype(name);
  return nativePrototypes.get(name);
}

/** True if an error has exactly the classes that `prototypeByName` gives it. */
export function isFoundByName(classes: readonly string[], name: string, details: unknown): boolean {
  return keyOf(classes) === familyFrom(prototypeByName(name, details) ?? Error.prototype).key;
}

export interface FoundClass {
  readonly prototype: object | undefined;
  /** Why it is not the recorded class but the nearest known ancestor. */
  readonly lost?: string;
}

/**
 * Finds a recorded class among those of JavaScript, of this package and the given ones. Its name and the names of all
 * its ancestors must be equal. @param given the first list that has the class counts.
 */
export function findClass(classes: readonly string[], given: readonly (readonly ErrorClass[])[]): FoundClass {
  for (let from = 0; from < classes.length; from++) {
    const names = classes.slice(from);
    const key = keyOf(names);
    const found =
      [...given.map((list) => named(list, key)), builtin(names, key)].find(({ length }) => length > 0) ?? [];
    if (found.length === 1) {
      return { prototype: found[0], ...(from === 0 ? {} : missing(classes, from, given)) };
    }
  }
  return { prototype: undefined, ...(classes.length === 0 ? {} : missing(classes, classes.length, given)) };
}

/** Node keeps these to itself, so no program can name them. Its `fetch` recognizes errors by registered symbols. */
const INTERNAL = new Set(["NodeError", "UndiciError"]);

function missing(
  classes: readonly string[],
  from: number,
  given: readonly (readonly ErrorClass[])[],
): { lost?: string } {
  if (classes.some((name) => INTERNAL.has(name))) return {};
  const name = classes[0] || "without a name";
  const why = given.some((list) => named(list, keyOf(classes)).length > 1)
    ? "`errors` names several such classes"
    : given.some((list) => withStatics(list).some((one) => one.name === name))
      ? `the class of this name in \`errors\` does not have the ancestors ${classes.slice(1).join(", ")}`
      : "it is not in `errors`";
  return { lost: `the class ${name} (came back as ${classes[from] ?? "Object"}: ${why})` };
}

function named(list: readonly ErrorClass[], key: string): object[] {
  return [...new Set(withStatics(list).map(({ prototype }) => prototype as object))].filter(
    (prototype) => familyFrom(prototype).key === key,
  );
}

function withStatics(list: readonly ErrorClass[]): ErrorClass[] {
  return list.flatMap((given) => [given, ...staticErrorClasses(given)]);
}

/** Clients offer their error classes as static members, such as `OpenAI.RateLimitError`. */
function staticErrorClasses(given: ErrorClass): ErrorClass[] {
  return Object.values(Object.getOwnPropertyDescriptors(given)).flatMap(({ value }: PropertyDescriptor): ErrorClass[] =>
    isClass(value) && value.prototype instanceof Error ? [value] : [],
  );
}

function isClass(value: unknown): value is ErrorClass {
  if (typeof value !== "function") return false;
  const { prototype } = value as { prototype?: unknown };
  return typeof prototype === "object" && prototype !== null;
}

/** The deepest class hierarchy that is followed. */
const MAX_CLASSES = 32;

/** What a prototype says about the classes of its objects. */
interface Family {
  /** "" for a class without a name. */
  readonly names: readonly string[];
  readonly key: string;
  readonly privateClass: string | undefined;
  readonly platformClass: string | undefined;
}

const NO_FAMILY: Family = { names: [], key: "[]", privateClass: undefined, platformClass: undefined };
const families = new WeakMap<object, Family>();

function familyOf(value: object): Family {
  try {
    return familyFrom(Object.getPrototypeOf(value) as object | null);
  } catch {
    return NO_FAMILY;
  }
}

function familyFrom(prototype: object | null): Family {
  if (prototype === null) return NO_FAMILY;
  const known = families.get(prototype);
  if (known !== undefined) return known;
  const classes = classesFrom(prototype);
  const names = classes.map(nameOfClass);
  const firstOf = (found: (made: ClassLike) => boolean): string | undefined =>
    names[classes.findIndex((made) => made !== undefined && found(made))];
  const family = {
    names,
    key: keyOf(names),
    privateClass: firstOf((made) => !isPlatformClass(made) && PRIVATE_MEMBER.test(sourceOf(made))),
    platformClass: firstOf(isPlatformClass),
  };
  families.set(prototype, family);
  return family;
}

/** A class of a program that has the name of one of JavaScript, such as EvalError, gets another one. */
function nameOfClass(made: ClassLike | undefined): string {
  if (typeof made?.name !== "string") return "";
  return nativePrototypes.has(made.name) && !isPlatformClass(made) ? `${made.name} of the program` : made.name;
}

interface ClassLike {
  readonly name?: unknown;
  readonly prototype?: unknown;
}

/** The classes from a prototype up to Object; `undefined` for one that its prototype does not name. */
function classesFrom(from: object): (ClassLike | undefined)[] {
  const classes: (ClassLike | undefined)[] = [];
  let prototype: object | null = from;
  while (prototype !== null && classes.length < MAX_CLASSES) {
    const above = Object.getPrototypeOf(prototype) as object | null;
    if (above === null) break;
    const made: unknown = Object.hasOwn(prototype, "constructor") ? prototype.constructor : undefined;
    if (typeof made !== "function") classes.push(undefined);
    // Node puts prototypes of its own between an error and its class. They do not make another class.
    else if ((made as ClassLike).prototype === prototype) classes.push(made);
    prototype = above;
  }
  return classes;
}

const PRIVATE_MEMBER = /(?:^|[^\w$"'`/\\])#[A-Za-z_$]/;

function isPlatformClass(made: ClassLike): boolean {
  const { name } = made;
  if (typeof name === "string" && (globalThis as Record<string, unknown>)[name] === made) return true;
  return /\{\s*\[native code\]\s*\}$/.test(sourceOf(made));
}

function sourceOf(made: object): string {
  return Function.prototype.toString.call(made);
}

function keyOf(names: readonly string[]): string {
  return JSON.stringify(names);
}

const nativeClasses = [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError, AggregateError];

const nativePrototypes = new Map<string, object>(nativeClasses.map(({ name, prototype }) => [name, prototype]));

const natives = new Map(
  [Error.prototype, DOMException.prototype, ...nativePrototypes.values()].map((prototype) => [
    familyFrom(prototype).key,
    prototype,
  ]),
);

/** The prototype of a class of JavaScript, or of this package. */
function builtin([name = ""]: readonly string[], key: string): object[] {
  const prototype = natives.get(key) ?? ownPrototype(name);
  return prototype !== undefined && familyFrom(prototype).key === key ? [prototype] : [];
}
