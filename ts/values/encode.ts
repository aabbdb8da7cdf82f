// Writes values for a recording: as JSON text, with tags for the types that JSON lacks.

import { contentOf } from "./content.js";
import { type Encoded, Encoder, Refused, type RefusedAt, TOO_LARGE } from "./encoder.js";
import { classify, kindOf, wholeKindOf } from "./kinds.js";
import { isPlainJson } from "./plain.js";

export type { Encoded, RefusedAt } from "./encoder.js";

/** Replaces a value that a recording could not restore. */
export interface Tombstone {
  tombstone: RefusedAt;
}

/** How inputs are written for hashing. */
export interface InputRules {
  /** True if the content of class instances is part of the hash (replay flag 5), not only the name of their class. */
  readonly exactContent: boolean;
  /** Classes whose instances have no state but their enumerable fields, whatever their source text shows. */
  readonly exact?: ReadonlySet<unknown>;
}

/** An input for hashing. */
export interface EncodedInput extends Encoded {
  /** True if `decodeValue` restores the value. */
  restorable: boolean;
  /** The parts that the hash does not cover: a type tag replaces them. Absent without such digests. */
  inexact?: readonly RefusedAt[];
}

/**
 * Writes a value as JSON text, from which `decodeValue` restores an equal value.
 *
 * `undefined`, Date, BigInt, NaN, the infinities, -0, Map, Set, Uint8Array, Buffer, ArrayBuffer and URL get a tag
 * in `types`. Functions, symbols, class instances, cycles, sparse arrays, accessors that throw and more than 1,000
 * levels result in a tombstone. Symbols as keys, and fields of a Date, a Map or bytes, are left out, as in JSON. Never
 * throws.
 */
export function encodeValue(value: unknown): Encoded | Tombstone {
  return encodeAs(kindOf, value);
}

/** Like {@link encodeValue}, for a value that is given back later: what would be left out results in a tombstone too. */
export function encodeWhole(value: unknown): Encoded | Tombstone {
  return encodeAs(wholeKindOf, value);
}

function encodeAs(kind: typeof kindOf, value: unknown): Encoded | Tombstone {
  const plain = stringifyPlain(value);
  if (plain !== undefined) return { text: plain, types: null };
  const encoder = new Encoder({
    kindOf: kind,
    onRefusal(path, { reason }) {
      throw new Refused(path, reason);
    },
  });
  try {
    return encoder.encode(value);
  } catch (error) {
    return { tombstone: Refused.of(error) ?? { path: "", reason: String(error) } };
  }
}

const NO_CLASSES: ReadonlySet<unknown> = new Set();
const CURRENT_RULES: InputRules = { exactContent: true };

/**
 * Writes an input (a request, or the props of an agent) for hashing. Class instances, typed arrays, errors and the like
 * are written by their content, with a tag in `types`. Never fails: a part whose content is not known for certain becomes
 * `null` in the text, with a tag ("function", "symbol", "cycle", "deep", "class:<name>", "symbol-key", "property",
 * "throws", "large"), and is listed in `inexact`. `undefined` and `{}` are the same input.
 */
export function encodeInput(
  value: unknown,
  { exactContent, exact = NO_CLASSES }: InputRules = CURRENT_RULES,
): EncodedInput {
  if (value === undefined) return { text: "{}", types: null, restorable: true };
  const plain = stringifyPlain(value);
  if (plain !== undefined) return { text: plain, types: null, restorable: true };
  const inexact: RefusedAt[] = [];
  const encoder: Encoder = new Encoder({
    ...(exactContent
      ? { kindOf: wholeKindOf, contentOf: (object: object) => contentOf(object, exact) }
      : { kindOf: classify }),
    onRefusal(path, { tag, reason }) {
      inexact.push({ path, reason });
      encoder.tag(path, tag);
      return null;
    },
  });
  try {
    const encoded = { ...encoder.encode(value), restorable: encoder.isRestorable };
    return inexact.length === 0 ? encoded : { ...encoded, inexact };
  } catch {
    return { text: "null", types: '{"":"large"}', restorable: false, inexact: [{ path: "", reason: TOO_LARGE }] };
  }
}

/** Writes a value for a log. Values that cannot be recorded become texts such as "[function]". Never fails. */
export function encodeMarked(value: unknown): Encoded {
  const plain = stringifyPlain(value);
  if (plain !== undefined) return { text: plain, types: null };
  try {
    return new Encoder({ kindOf, onRefusal: (_path, { reason }) => `[${reason}]` }).encode(value);
  } catch {
    return { text: JSON.stringify(`[${TOO_LARGE}]`), types: null };
  }
}

function stringifyPlain(value: unknown): string | undefined {
  try {
    return isPlainJson(value) ? JSON.stringify(value) : undefined;
  } catch {
    // An accessor or a Proxy threw, or the text would be too long. The slow path finds the place.
    return undefined;
  }
}
