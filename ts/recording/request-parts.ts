// The parts that the requests of a recording share, as a snapshot contains them.

import type { RequestPart } from "../types/snapshot.js";
import { setMember } from "../values/members.js";
import { appendToken } from "../values/pointer.js";
import { isCallLine, type CallLine, type Line, type SharedFrom, type SharedLine } from "./lines.js";

type Place = Pick<CallLine, "frame" | "call">;

export class RequestParts {
  /** The `requestParts` of the snapshot. */
  readonly entries: RequestPart[] = [];
  /** By line, the pointers that later lines refer to. True: a list begins with the items there. */
  readonly #wanted = new Map<string, Map<string, boolean>>();
  /** The entries of the values at these pointers. */
  readonly #known = new Map<string, number>();

  constructor(lines: readonly Line[]) {
    for (const line of lines) {
      if (!isCallLine(line)) continue;
      for (const [pointer, from] of Object.entries(sharedOf(line.request))) {
        const key = keyOf(sourceOf(line, from));
        const pointers = this.#wanted.get(key) ?? new Map<string, boolean>();
        const at = from.pointer ?? pointer;
        this.#wanted.set(key, pointers.set(at, pointers.get(at) === true || from.keep !== undefined));
      }
    }
  }

  /**
   * The entry of a request document; `undefined` if it shares nothing with others.
   * @throws Error if it names a value that no earlier line has.
   */
  request(line: Place, { document, shared = {} }: SharedLine): number | undefined {
    const key = keyOf(line);
    const parts = new Map<string, Part>();
    for (const pointer of Object.keys(shared)) {
      const source = this.#source(line, pointer, shared[pointer] as SharedFrom);
      parts.set(pointer, { source, isList: source.keep !== undefined, wanted: [] });
    }
    for (const [wanted, isList] of this.#wanted.get(key) ?? []) {
      const pointer = writtenAt(wanted, shared);
      const part = parts.get(pointer) ?? { isList: false, wanted: [] };
      parts.set(pointer, { ...part, isList: part.isList || isList, wanted: [...part.wanted, `${key}\n${wanted}`] });
    }
    if (parts.size === 0) return undefined;
    const builder = new Builder(this.entries, this.#known, parts, line.call);
    return builder.entry(document, "");
  }

  #source(line: Place, pointer: string, from: SharedFrom): Source {
    const entry = this.#known.get(`${keyOf(sourceOf(line, from))}\n${from.pointer ?? pointer}`);
    if (entry === undefined) {
      throw new Error(`"shared" at ${JSON.stringify(pointer)} names a value that is not in an earlier line`);
    }
    return { entry, keep: from.keep };
  }
}

/** An entry that a value is equal to, or whose first `keep` items it begins with. */
interface Source {
  readonly entry: number;
  readonly keep?: number | undefined;
}

function sharedOf(request: CallLine["request"]): Record<string, SharedFrom> {
  return request !== undefined && "document" in request ? (request.shared ?? {}) : {};
}

const keyOf = ({ frame, call }: Place): string => `${frame}\n${call}`;

function sourceOf(line: Place, { frame = line.frame, call }: SharedFrom): Place {
  return { frame, call };
}

/** A place in the document of a line. */
interface Part {
  readonly source?: Source;
  readonly isList: boolean;
  /** The names by which later lines refer to it. */
  readonly wanted: readonly string[];
}

/** The deepest place of a part. The writer divides only the upper levels of a document. */
const MAX_TOKENS = 200;

/** Builds the entries of one document. */
class Builder {
  readonly #entries: RequestPart[];
  readonly #known: Map<string, number>;
  readonly #parts: ReadonlyMap<string, Part>;
  /** The places above parts. */
  readonly #above = new Set<string>();

  constructor(entries: RequestPart[], known: Map<string, number>, parts: ReadonlyMap<string, Part>, call: string) {
    this.#entries = entries;
    this.#known = known;
    this.#parts = parts;
    for (const pointer of parts.keys()) {
      if (pointer.split("/").length > MAX_TOKENS) throw new Error(`a pointer in "shared" of ${call} is too long`);
      for (let at = pointer.lastIndexOf("/"); at >= 0; at = pointer.lastIndexOf("/", at - 1)) {
        this.#above.add(pointer.slice(0, at));
        if (at === 0) break;
      }
    }
  }

  /** The entry of the value at a pointer. Recurses as deep as pointers are long. */
  entry(value: unknown, pointer: string): number {
    const { source, isList = false, wanted = [] } = this.#parts.get(pointer) ?? {};
    const entry =
      source !== undefined && source.keep === undefined ? source.entry : this.#add(value, pointer, source, isList);
    for (const name of wanted) this.#known.set(name, entry);
    return entry;
  }

  #add(value: unknown, pointer: string, source: Source | undefined, isList: boolean): number {
    if (Array.isArray(value) && (isList || this.#above.has(pointer))) {
      const list = value.map((item: unknown, index) => this.entry(item, `${pointer}/${index}`));
      return this.#push(source?.keep === undefined ? { list } : { list, after: source.entry, keep: source.keep });
    }
    const parts: Record<string, number> = {};
    const skeleton = this.#skeleton(value, pointer, pointer.length, parts);
    return this.#push(Object.keys(parts).length === 0 ? { value } : { value: skeleton, parts });
  }

  /** A copy with `null` in place of each part, which gets an entry. */
  #skeleton(value: unknown, pointer: string, from: number, parts: Record<string, number>): unknown {
    if (!this.#above.has(pointer) || typeof value !== "object" || value === null) return value;
    const copy = {};
    for (const [name, member] of Object.entries(value)) {
      const at = appendToken(pointer, name);
      const isPart = this.#parts.has(at) || (Array.isArray(member) && this.#above.has(at));
      if (isPart) parts[at.slice(from)] = this.entry(member, at);
      setMember(copy, name, isPart ? null : this.#skeleton(member, at, from, parts));
    }
    return copy;
  }

  #push(entry: RequestPart): number {
    return this.#entries.push(entry) - 1;
  }
}

/** The pointer into the document of a line, of which shared items are left out, for a pointer into the whole document. */
function writtenAt(whole: string, shared: Readonly<Record<string, SharedFrom>>): string {
  let written = "";
  for (const token of whole.split("/").slice(1)) {
    const keep = Object.hasOwn(shared, written) ? (shared[written]?.keep ?? 0) : 0;
    written += `/${keep === 0 ? token : Number(token) - keep}`;
  }
  return written;
}
