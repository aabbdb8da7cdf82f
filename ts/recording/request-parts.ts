// The parts that the requests of a recording share, as a snapshot contains them.

import type { RequestPart } from "../types/snapshot.js";
import { memberOf, setMember } from "../values/members.js";
import { pointerTokens } from "../values/pointer.js";
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
    const wanted = this.#wanted.get(keyOf(line));
    const pointers = new Set([...Object.keys(shared), ...(wanted?.keys() ?? [])]);
    if (pointers.size === 0) return undefined;
    let whole = document;
    const parts = new Map<string, number>();
    // Parts that contain others come after them.
    for (const pointer of [...pointers].toSorted((left, right) => right.length - left.length)) {
      const value = valueIn(whole, pointer, line);
      const source = Object.hasOwn(shared, pointer)
        ? this.#source(line, pointer, shared[pointer] as SharedFrom)
        : undefined;
      const isList = source?.keep !== undefined || wanted?.get(pointer) === true;
      const entry = this.#entry(value, within(parts, pointer), { source, isList });
      if (wanted?.has(pointer) === true) this.#known.set(`${keyOf(line)}\n${pointer}`, entry);
      parts.set(pointer, entry);
      whole = replaced(whole, pointer);
    }
    return parts.get("") ?? this.#add({ value: whole, parts: Object.fromEntries(parts) });
  }

  #add(entry: RequestPart): number {
    return this.entries.push(entry) - 1;
  }

  #entry(
    value: unknown,
    inner: Record<string, number>,
    { source, isList }: { source: Source | undefined; isList: boolean },
  ): number {
    if (source !== undefined && source.keep === undefined) return source.entry;
    if (!isList || !Array.isArray(value)) {
      return this.#add(Object.keys(inner).length === 0 ? { value } : { value, parts: inner });
    }
    const list = value.map((item: unknown) => this.#add({ value: item }));
    return this.#add(source?.keep === undefined ? { list } : { list, after: source.entry, keep: source.keep });
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

/** Takes the parts under a pointer out of the list. Returns them by pointers from there. */
function within(parts: Map<string, number>, pointer: string): Record<string, number> {
  const inner = [...parts].filter(([at]) => at.startsWith(`${pointer}/`));
  for (const [at] of inner) parts.delete(at);
  return Object.fromEntries(inner.map(([at, entry]) => [at.slice(pointer.length), entry]));
}

function valueIn(document: unknown, pointer: string, line: Place): unknown {
  const tokens = pointerTokens(pointer);
  const value = tokens?.reduce<unknown>(memberOf, document);
  if (value !== undefined) return value;
  throw new Error(`"shared" names ${JSON.stringify(pointer)}, which is not in the request of ${line.call}`);
}

/** A copy of the document with `null` at a pointer. */
function replaced(document: unknown, pointer: string): unknown {
  const tokens = pointerTokens(pointer) ?? [];
  const last = tokens.pop();
  if (last === undefined) return null;
  const copy = { ...(document as object) };
  let parent: object = copy;
  for (const token of tokens) {
    const inner = { ...(memberOf(parent, token) as object) };
    setMember(parent, token, inner);
    parent = inner;
  }
  setMember(parent, last, null);
  return copy;
}
