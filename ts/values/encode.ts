// Writes values for a recording: as JSON text, with tags for the types that JSON lacks.

import { type Encoded, Encoder, Refused, type RefusedAt, TOO_LARGE } from "./encoder.js";
import { isPlainJson } from "./plain.js";

export type { Encoded, RefusedAt } from "./encoder.js";

/** Replaces a value that a recording could not restore. */
export interface Tombstone {
  tombstone: RefusedAt;
}

/** An input for hashing. */
export interface EncodedInput extends Encoded {
  /** False if a type tag replaces a part of the value. */
  exact: boolean;
  /** The parts that a type tag replaces. Absent if `exact` is true. */
  inexact?: readonly RefusedAt[];
}

/**
 * Writes a value as JSON text, from which `decodeValue` restores an equal value.
 *
 * `undefined`, Date, BigInt, NaN, the infinities, -0, Map, Set, Uint8Array, Buffer, ArrayBuffer and URL get a tag
 * in `types`. Functions, symbols, class instances, cycles, sparse arrays, accessors that throw and more than 1,000
 * levels result in a tombstone. Symbol keys are left out, as in JSON. Never throws.
 */
export function encodeValue(value: unknown): Encoded | Tombstone {
  const plain = stringifyPlain(value);
  if (plain !== undefined) return { text: plain, types: null };
  const encoder = new Encoder((path, { reason }) => {
    throw new Refused(path, reason);
  });
  try {
    return encoder.encode(value);
  } catch (error) {
    return { tombstone: Refused.of(error) ?? { path: "", reason: String(error) } };
  }
}

/**
 * Writes an input (the props of an agent) for hashing. Never fails: a value that cannot be recorded becomes `null` in
 * the text and a tag in `types` ("function", "symbol", "cycle", "deep", "class:<name>", "sparse", "array-property",
 * "toJSON", "throws", "large"), and `exact` is false. `undefined` and `{}` are the same input.
 */
export function encodeInput(value: unknown): EncodedInput {
  if (value === undefined) return { text: "{}", types: null, exact: true };
  const plain = stringifyPlain(value);
  if (plain !== undefined) return { text: plain, types: null, exact: true };
  const inexact: RefusedAt[] = [];
  const encoder: Encoder = new Encoder((path, { tag, reason }) => {
    inexact.push({ path, reason });
    encoder.tag(path, tag);
    return null;
  });
  try {
    const encoded = encoder.encode(value);
    return inexact.length === 0 ? { ...encoded, exact: true } : { ...encoded, exact: false, inexact };
  } catch {
    return { text: "null", types: '{"":"large"}', exact: false, inexact: [{ path: "", reason: TOO_LARGE }] };
  }
}

/** Writes a value for a log. Values that cannot be recorded become texts such as "[function]". Never fails. */
export function encodeMarked(value: unknown): Encoded {
  const plain = stringifyPlain(value);
  if (plain !== undefined) return { text: plain, types: null };
  try {
    return new Encoder((_path, { reason }) => `[${reason}]`).encode(value);
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
