// Inputs whose hash does not cover everything: what is said about them, and how users declare that it does.

import { kindOf } from "../errors/received.js";
import type { EncodedInput, RefusedAt } from "./encode.js";
import { valueAt } from "./pointer.js";
import { warn } from "../errors/printable.js";

/** A class, for options that list some. */
export interface Class {
  readonly prototype: object;
}

/** @throws TypeError if it is not a list of classes. `where` names the option. */
export function classSet(where: string, classes: readonly Class[] = []): ReadonlySet<unknown> {
  if (!Array.isArray(classes)) throw new TypeError(`${where} must be an array of classes, received ${kindOf(classes)}`);
  for (const [index, given] of (classes as readonly unknown[]).entries()) {
    if (typeof given === "function") continue;
    throw new TypeError(`${where}.${index} must be a class, received ${kindOf(given)}`);
  }
  return new Set(classes);
}

/**
 * The first part of an input that its hash does not cover. A part that a rule of `normalize` replaces is excluded from
 * the hash on purpose.
 *
 * @param normalized the document that is hashed, with the input as its member `input`, if there are such rules.
 */
export function uncovered({ inexact = [] }: EncodedInput, normalized: string | undefined): RefusedAt | undefined {
  if (inexact.length === 0 || normalized === undefined) return inexact[0];
  const document: unknown = JSON.parse(normalized);
  return inexact.find(({ path }) => valueAt(document, `/input${path}`) === null);
}

const said = new Set<string>();
const MAX_SAID = 1_000;

/** Prints a warning about a place in a value, once for each place. `text` gets the place, with `*` for indices. */
export function warnOnce({ path, reason }: RefusedAt, text: (place: string, pointer: string) => string): void {
  const pointer = path.replaceAll(/\/\d+(?=\/|$)/g, "/*");
  const warning = text(`${pointer}${pointer === "" ? "" : ": "}${reason}`, pointer);
  if (said.has(warning) || said.size >= MAX_SAID) return;
  said.add(warning);
  warn(`${warning} This warning is shown once.`);
}

/** Warns that a replay will not find an input. */
export function warnInexact(what: string, consequence: string, part: RefusedAt): void {
  warnOnce(
    part,
    (place, pointer) =>
      `${what} has content that its hash does not cover (${place}), so ${consequence}. Leave it out, exclude it from the ` +
      `hash with options.normalize and the pointer "/input${pointer}", or, if all of its state is in its enumerable ` +
      "fields, list its class in options.exact.",
  );
}
