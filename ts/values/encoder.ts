// The slow path of recording: copies a value to plain JSON and collects tags for the types that JSON lacks.

import { messageOf } from "../errors/base.js";
import type { Content } from "./content.js";
import type { ObjectKind, Refusal } from "./kinds.js";
import { setMember } from "./members.js";
import { MAX_DEPTH } from "./plain.js";
import { appendToken } from "./pointer.js";

/** A value as JSON text. */
export interface Encoded {
  text: string;
  /** JSON text of `{ "<JSON pointer>": "<tag>" }`; `null` if the value has only types of JSON. */
  types: string | null;
}

/** Where and why a value cannot be recorded. */
export interface RefusedAt {
  /** JSON pointer to the part that cannot be recorded; "" is the value itself. */
  path: string;
  reason: string;
}

// A value that contains the same part many times is small in memory. These bounds keep its copy from filling the heap.
const MAX_CONTAINERS = 2 ** 20;
const MAX_MEMBERS = 2 ** 24;
const MAX_TYPES_LENGTH = 2 ** 26;
/** Instances of classes reach further than data: from a client to its whole application. */
const MAX_CONTENT_CONTAINERS = 2 ** 15;

export const TOO_LARGE = "too large to be written as JSON";
const CYCLE: Refusal = { tag: "cycle", reason: "reference to an object that it is part of" };
const DEEP: Refusal = { tag: "deep", reason: "nested deeper than 1,000 levels" };

/** An encoder throws it if the value cannot be recorded. */
export class Refused extends Error {
  readonly #at: RefusedAt;

  constructor(path: string, reason: string) {
    super(reason);
    this.#at = { path, reason };
  }

  /** Where and why, if `error` is a Refused. Unlike instanceof, this is safe for all values that accessors throw. */
  static of(error: unknown): RefusedAt | undefined {
    return typeof error === "object" && error !== null && #at in error ? error.#at : undefined;
  }
}

/** What an encoder writes. */
export interface Form {
  readonly kindOf: (value: object) => ObjectKind | Refusal;
  /** The content of an object without a kind. Absent if only values of known kinds are written. */
  readonly contentOf?: (value: object) => Content | Refusal;
  /** Returns the replacement for a value that cannot be written. */
  readonly onRefusal: (path: string, refusal: Refusal) => unknown;
}

/** A container whose members are being copied. */
interface OpenContainer {
  source: object;
  /** Keys of an object; `undefined` if the container is written as an array. */
  keys: readonly string[] | undefined;
  members: Readonly<Record<string | number, unknown>>;
  copy: Record<string | number, unknown>;
  next: number;
  length: number;
}

const NOTHING: unique symbol = Symbol("no member is written");

/** Copies a value to plain JSON without recursion, and collects type tags. */
export class Encoder {
  /** False after a value was written that `decodeValue` cannot restore. */
  isRestorable = true;
  readonly #form: Form;
  readonly #types: string[] = [];
  readonly #open: OpenContainer[] = [];
  readonly #onPath = new Set<object>();
  #containers = 0;
  #members = 0;
  /** Depth of the outermost open container that is the content of an instance. */
  #contentDepth = Infinity;
  #contentContainers = 0;
  #typesLength = 0;

  constructor(form: Form) {
    this.#form = form;
  }

  /** Copies and writes the value. Each encoder is used once. */
  encode(value: unknown): Encoded {
    const written = this.#write(value);
    const root = written === NOTHING ? null : written;
    for (let top = this.#open.at(-1); top !== undefined; top = this.#open.at(-1)) {
      if (top.next < top.length) {
        this.#copyMember(top);
      } else {
        this.#open.pop();
        this.#onPath.delete(top.source);
        if (this.#open.length <= this.#contentDepth) this.#contentDepth = Infinity;
      }
    }
    const types = this.#types.length === 0 ? null : `{${this.#types.join(",")}}`;
    return { text: stringify(root), types };
  }

  /** Adds a tag for a pointer. */
  tag(path: string, tag: string): void {
    const entry = `${JSON.stringify(path)}:${JSON.stringify(tag)}`;
    this.#typesLength += entry.length;
    if (this.#typesLength > MAX_TYPES_LENGTH) throw tooLarge();
    this.#types.push(entry);
  }

  #copyMember(container: OpenContainer): void {
    container.next++;
    const { members, copy } = container;
    const key = currentKey(container);
    const written = this.#writeMember(members, key);
    if (written === NOTHING) {
      if (container.keys === undefined) copy[key] = null;
    } else {
      setMember(copy, key, written);
    }
  }

  #writeMember(members: OpenContainer["members"], key: string | number): unknown {
    let member: unknown;
    try {
      member = members[key];
    } catch (error) {
      return this.#refuse(throwing(error));
    }
    return this.#write(member);
  }

  /** Returns the JSON value that is written. A container is opened here and filled later. */
  #write(value: unknown): unknown {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value;
      case "number":
        return this.#writeNumber(value);
      case "bigint":
        return this.#tagged("bigint", value.toString());
      case "undefined":
        return this.#tagged("undefined", NOTHING);
      case "object":
        return value === null ? null : this.#writeObject(value);
      default:
        return this.#refuse({ tag: typeof value, reason: typeof value });
    }
  }

  #writeNumber(value: number): unknown {
    if (!Number.isFinite(value)) return this.#tagged("number", String(value));
    return Object.is(value, -0) ? this.#tagged("number", 0) : value;
  }

  #writeObject(value: object): unknown {
    try {
      if (this.#onPath.has(value)) return this.#refuse(CYCLE);
      const kind = this.#form.kindOf(value);
      if (typeof kind === "object") {
        const content = this.#form.contentOf?.(value) ?? kind;
        return "reason" in content ? this.#refuse(content) : this.#writeContent(value, content);
      }
      switch (kind) {
        case "object":
          return this.#enter(value, value as Record<string, unknown>, Object.keys(value));
        case "array":
          return this.#enter(value, value as unknown[]);
        case "map":
          return this.#enter(value, Array.from(Map.prototype.entries.call(value)), undefined, kind);
        case "set":
          return this.#enter(value, Array.from(Set.prototype.values.call(value)), undefined, kind);
        case "date": {
          const time = Date.prototype.getTime.call(value);
          return this.#tagged(kind, Number.isNaN(time) ? null : new Date(time).toISOString());
        }
        case "bytes":
        case "buffer": {
          const { buffer, byteOffset, byteLength } = value as Uint8Array;
          return this.#tagged(kind, Buffer.from(buffer, byteOffset, byteLength).toString("base64"));
        }
        case "arraybuffer":
          return this.#tagged(kind, Buffer.from(value as ArrayBuffer).toString("base64"));
        case "url":
          return this.#tagged(kind, (value as URL).href);
      }
    } catch (error) {
      if (Refused.of(error) !== undefined) throw error;
      return this.#refuse(throwing(error));
    }
  }

  #writeContent(source: object, { tag, value }: Content): unknown {
    this.isRestorable = false;
    if (typeof value === "string") return this.#tagged(tag, value);
    this.#contentDepth = Math.min(this.#contentDepth, this.#open.length);
    if (Array.isArray(value)) return this.#enter(source, value, undefined, tag);
    return this.#enter(source, value as Record<string, unknown>, Object.keys(value as object), tag);
  }

  #enter(
    source: object,
    members: readonly unknown[] | Record<string, unknown>,
    keys?: readonly string[],
    tag?: string,
  ): unknown {
    if (this.#open.length >= MAX_DEPTH) return this.#refuse(DEEP);
    const { length } = keys ?? (members as readonly unknown[]);
    this.#members += length;
    if (++this.#containers > MAX_CONTAINERS || this.#members > MAX_MEMBERS) throw tooLarge();
    if (this.#open.length >= this.#contentDepth && ++this.#contentContainers > MAX_CONTENT_CONTAINERS) throw tooLarge();
    if (tag !== undefined) this.tag(this.#path(), tag);
    const copy = (keys === undefined ? [] : {}) as Record<string | number, unknown>;
    this.#open.push({ source, keys, members: members as Record<string | number, unknown>, copy, next: 0, length });
    this.#onPath.add(source);
    return copy;
  }

  #tagged(tag: string, written: unknown): unknown {
    this.tag(this.#path(), tag);
    return written;
  }

  #refuse(refusal: Refusal): unknown {
    this.isRestorable = false;
    return this.#form.onRefusal(this.#path(), refusal);
  }

  /** Pointer to the member that is being written. */
  #path(): string {
    let path = "";
    for (const container of this.#open) path = appendToken(path, currentKey(container));
    return path;
  }
}

function stringify(copy: unknown): string {
  try {
    return JSON.stringify(copy);
  } catch {
    // For plain data, only the length of the text can be the reason.
    throw tooLarge();
  }
}

function tooLarge(): Refused {
  return new Refused("", TOO_LARGE);
}

/** Key of the member that is being copied. */
function currentKey({ keys, next }: OpenContainer): string | number {
  return keys === undefined ? next - 1 : (keys[next - 1] as string);
}

function throwing(error: unknown): Refusal {
  return { tag: "throws", reason: `reading it threw: ${messageOf(error)}` };
}
