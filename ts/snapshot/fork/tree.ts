// A snapshot's frames while they are edited: outcomes stand with their calls, and frames know their parents.

import type { AgentFrameSnapshot, CallRecord, GenerationStart, Journal, JournalEntry } from "../../types/snapshot.js";

/** A row that no call names: it answers any number of times. */
export interface RowNode {
  readonly kind: string;
  readonly contentHash: string;
  readonly entry: JournalEntry;
}

/** One pass of a frame's handler. */
export interface GenerationNode {
  start: GenerationStart | undefined;
  calls: CallRecord[];
  rows: RowNode[];
  children: FrameNode[];
  /** The last start or end in it and under it, as it was recorded; -Infinity where no order is known. */
  latest: number;
}

export interface FrameNode {
  readonly frame: AgentFrameSnapshot;
  /** Under which it stands in its parent's children. */
  readonly key: string;
  readonly parent: FrameNode | undefined;
  /** Index of the parent's generation that it stands in. */
  readonly generation: number;
  /** In order. Never empty; the last one is replayed. */
  generations: GenerationNode[];
}

type Body = Pick<AgentFrameSnapshot, "journal" | "children"> & { calls?: CallRecord[] };

/** Opens the frames for editing, which changes them; `storeFrames` puts them together again. */
export function loadFrames(root: AgentFrameSnapshot): FrameNode {
  const top = frameNode(root, "", undefined, 0);
  const order = [top];
  for (const node of order) {
    const bodies: Body[] = [...(node.frame.generations ?? []), node.frame];
    for (const [index, generation] of node.generations.entries()) {
      for (const [key, child] of Object.entries(bodies[index]?.children ?? {})) {
        generation.children.push(frameNode(child, key, node, index));
      }
      order.push(...generation.children);
    }
  }
  // Children stand behind their parents.
  for (const node of order.toReversed())
    for (const generation of node.generations) generation.latest = latestOf(generation);
  return top;
}

/** Writes the edited nodes back into their frames. */
export function storeFrames(root: FrameNode): void {
  for (const { frame, generations } of framesUnder(root)) {
    const last = lastOf(generations);
    Object.assign(frame, bodyOf(last));
    if (last.start === undefined) delete frame.generation;
    else frame.generation = last.start;
    const earlier = generations.slice(0, -1);
    if (earlier.length === 0) delete frame.generations;
    else frame.generations = earlier.map((node, id) => ({ ...(node.start ?? { id }), ...bodyOf(node) }));
  }
}

/** The frame and all under it in all generations, parents first. */
export function framesUnder(root: FrameNode): FrameNode[] {
  const found = [root];
  for (const node of found) for (const { children } of node.generations) found.push(...children);
  return found;
}

export function lastOf(generations: readonly GenerationNode[]): GenerationNode {
  return generations.at(-1) as GenerationNode;
}

/** A list of calls without some of them. */
export function withoutCalls(calls: readonly CallRecord[], gone: ReadonlySet<CallRecord>): CallRecord[] {
  if (gone.size === 0) return [...calls];
  const kept = calls.filter((call) => !gone.has(call));
  const places = new Map(kept.map((call, place) => [call, place]));
  for (const call of kept) {
    const { request } = call;
    if (request === undefined || "document" in request || request.base === undefined) continue;
    // Prompts name the one that they continue by its place; without that one, what they asked is not known.
    const continued = calls[request.base];
    const base = continued === undefined ? undefined : places.get(continued);
    if (base === undefined) delete call.request;
    else call.request = { ...request, base };
  }
  return kept;
}

function frameNode(
  frame: AgentFrameSnapshot,
  key: string,
  parent: FrameNode | undefined,
  generation: number,
): FrameNode {
  const earlier = (frame.generations ?? []).map((record) => generationNode(record, startOf(record)));
  return { frame, key, parent, generation, generations: [...earlier, generationNode(frame, frame.generation)] };
}

function generationNode(body: Body, start: GenerationStart | undefined): GenerationNode {
  return { start, ...opened(body), children: [], latest: -Infinity };
}

function startOf({ id, props, propsTypes, memory }: GenerationStart): GenerationStart {
  return {
    id,
    ...(props === undefined ? {} : { props }),
    ...(propsTypes === undefined ? {} : { propsTypes }),
    ...(memory === undefined ? {} : { memory }),
  };
}

/** Takes outcomes out of the rows into the calls that name them. A call whose row was taken out is gone with it. */
function opened(body: Body): Pick<GenerationNode, "calls" | "rows"> {
  const { calls = [] } = body;
  const rows = rowsOf(body.journal);
  const byKey = new Map(rows.map((row) => [rowKey(row), row]));
  const named = new Set<RowNode>();
  const gone = new Set<CallRecord>();
  for (const call of calls.filter(({ row }) => row === true)) {
    const row = byKey.get(rowKey(call));
    if (row === undefined) {
      gone.add(call);
      continue;
    }
    named.add(row);
    takeOutcome(call, row.entry);
  }
  return { calls: withoutCalls(calls, gone), rows: rows.filter((row) => !named.has(row)) };
}

function takeOutcome(call: CallRecord, entry: JournalEntry): void {
  for (const field of ["row", "output", "error", "tombstone"] as const) delete call[field];
  if (entry.error !== undefined && entry.error !== null) {
    call.tombstone = typeof entry.error === "string" ? entry.error : JSON.stringify(entry.error);
  } else if ("output" in entry) {
    call.output = entry.output;
  } else {
    // What JSON leaves out was undefined.
    call.output = null;
    call.types = { "": "undefined" };
  }
}

function rowsOf({ prompt, tool, other = {} }: Journal): RowNode[] {
  const kinds = [["prompt", prompt] as const, ["tool", tool] as const, ...Object.entries(other)];
  return kinds.flatMap(([kind, rows]) =>
    Object.entries(rows).map(([contentHash, entry]) => ({ kind, contentHash, entry })),
  );
}

function rowKey({ kind, contentHash }: Pick<RowNode, "kind" | "contentHash">): string {
  return `${kind.length}:${kind}${contentHash}`;
}

function latestOf({ calls, children }: GenerationNode): number {
  let latest = -Infinity;
  const see = (place = -Infinity): void => {
    if (place > latest) latest = place;
  };
  for (const { startOrder, answerOrder, endOrder } of calls) {
    see(startOrder);
    see(answerOrder);
    see(endOrder);
  }
  for (const { frame, generations } of children) {
    see(frame.startOrder);
    see(frame.endOrder);
    for (const generation of generations) see(generation.latest);
  }
  return latest;
}

/** Outcomes stay with the calls: the core writes the rows. */
function bodyOf({ calls, rows, children }: GenerationNode): Body & { calls: CallRecord[] } {
  const kinds = new Map<string, [string, JournalEntry][]>([
    ["prompt", []],
    ["tool", []],
  ]);
  for (const { kind, contentHash, entry } of rows) {
    const known = kinds.get(kind);
    if (known === undefined) kinds.set(kind, [[contentHash, entry]]);
    else known.push([contentHash, entry]);
  }
  // `fromEntries`, since a key such as "__proto__" is data like any other.
  const {
    prompt = {},
    tool = {},
    ...other
  } = Object.fromEntries([...kinds].map(([kind, entries]) => [kind, Object.fromEntries(entries)]));
  const journal: Journal = { prompt, tool, ...(kinds.size > 2 ? { other } : {}) };
  return { journal, calls, children: Object.fromEntries(children.map(({ key, frame }) => [key, frame])) };
}
