// The frames of a snapshot and what was called in them, in order, as rows of a tree.

import { marksOf, type Marks } from "../snapshot/marks.js";
import type { AgentFrameSnapshot, AgentSnapshot, CallRecord, ErrorInfo, Journal } from "../types/snapshot.js";

export type CallStatus = "ok" | "failed" | "in flight" | "not kept";

export interface CallRow extends Marks {
  row: "call";
  depth: number;
  /** Whether it is the last one under its frame. */
  last: boolean;
  kind: string;
  /** Absent in recordings without lists of calls. */
  callId?: string;
  /** The last part of the callId, which may have a "/" of its own. */
  name?: string;
  contentHash: string;
  status: CallStatus;
  /** Name and message of a failure, or why an output was not kept. */
  reason?: string;
  durationMs?: number;
  tokens?: number;
  output?: unknown;
  /** What was asked, where it was kept. */
  request?: unknown;
}

export interface FrameRow extends Marks {
  row: "frame";
  depth: number;
  last: boolean;
  callId: string;
  /** The last part of the callId. */
  name: string;
  agentId: string;
  status: string;
  reason?: string;
  /** Number of the last generation. */
  generation: number;
  calls: number;
  /** Of the frame and all frames under it. */
  tokens: number;
}

export interface GenerationRow {
  row: "generation";
  depth: number;
  last: boolean;
  id: number;
}

export type Row = CallRow | FrameRow | GenerationRow;

type Item = Omit<CallRow, "depth" | "last"> | Omit<GenerationRow, "depth" | "last"> | { frame: AgentFrameSnapshot };

interface Open {
  items: Item[];
  next: number;
  /** What the callIds in the frame begin with. */
  base: string;
}

/** The rows of a snapshot, from the root down. Frames may be nested deep: there is no recursion. */
export function* rowsOf(snapshot: AgentSnapshot): Generator<Row> {
  const texts = snapshot.root.requestTexts ?? [];
  const open: Open[] = [{ items: [{ frame: snapshot.root }], next: 0, base: "" }];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const item = top.items[top.next];
    if (item === undefined) {
      open.pop();
      continue;
    }
    top.next += 1;
    const place = { depth: open.length - 1, last: top.next === top.items.length };
    if (!("frame" in item)) {
      yield { ...item, ...place };
      continue;
    }
    yield { ...frameRow(item.frame, top.base), ...place };
    // A run's frame is the root of what is in it.
    const base = item.frame.agentId === "" ? "root" : item.frame.callId;
    open.push({ items: itemsOf(item.frame, texts, base), next: 0, base });
  }
}

function nameIn(base: string, callId: string): string {
  return callId.startsWith(`${base}/`) ? callId.slice(base.length + 1) : callId;
}

function frameRow(frame: AgentFrameSnapshot, base: string): Omit<FrameRow, "depth" | "last"> {
  const { callId, agentId, state, budgetState } = frame;
  return {
    row: "frame",
    callId,
    name: nameIn(base, callId),
    agentId,
    status: state.status,
    ...marksOf(frame),
    ...(state.status === "failed" ? { reason: errorText(state.error) } : {}),
    generation: frame.generation?.id ?? frame.generations?.length ?? 0,
    calls: frame.calls?.length ?? rowsOfJournal(frame.journal).length,
    tokens: budgetState.aggregate.totalTokens,
  };
}

function itemsOf(frame: AgentFrameSnapshot, texts: readonly unknown[], base: string): Item[] {
  const earlier = (frame.generations ?? []).flatMap((generation): Item[] => [
    { row: "generation", id: generation.id },
    ...inOrder(generation.journal, generation.calls, generation.children, texts, base),
  ]);
  const last: Item[] = earlier.length === 0 ? [] : [{ row: "generation", id: frame.generation?.id ?? 0 }];
  return [...earlier, ...last, ...inOrder(frame.journal, frame.calls, frame.children, texts, base)];
}

function inOrder(
  journal: Journal,
  calls: readonly CallRecord[] | undefined,
  children: Readonly<Record<string, AgentFrameSnapshot>>,
  texts: readonly unknown[],
  base: string,
): Item[] {
  const frames = Object.values(children).map((frame) => ({ order: frame.startOrder ?? Infinity, item: { frame } }));
  if (calls === undefined) return [...rowsOfJournal(journal), ...frames.map(({ item }) => item)];
  const requests = new Requests(calls, texts);
  const rows = calls.map((call, index) => ({
    order: call.startOrder,
    item: callItem(call, journal, { request: requests.of(index), base }),
  }));
  return [...rows, ...frames].toSorted((left, right) => left.order - right.order).map(({ item }): Item => item);
}

function callItem(call: CallRecord, journal: Journal, { request, base }: { request: unknown; base: string }): Item {
  const { kind, callId, contentHash, error, meta, endOrder, row } = call;
  const rows = kind === "prompt" || kind === "tool" ? journal[kind] : journal.other?.[kind];
  const entry = row === true ? rows?.[contentHash] : undefined;
  const tombstone = call.tombstone ?? entry?.error;
  const output: unknown = entry === undefined ? call.output : entry.output;
  const usage = meta?.usage;
  return {
    row: "call",
    kind,
    callId,
    name: nameIn(base, callId),
    contentHash,
    ...statusOf(error, tombstone, endOrder),
    ...marksOf(call),
    ...(meta?.durationMs === undefined ? {} : { durationMs: meta.durationMs }),
    ...(usage === undefined ? {} : { tokens: usage.totalTokens }),
    ...(error === undefined && tombstone === undefined && endOrder !== undefined ? { output } : {}),
    ...(request === undefined ? {} : { request }),
  };
}

function statusOf(
  error: ErrorInfo | undefined,
  tombstone: string | undefined,
  endOrder: number | undefined,
): { status: CallStatus; reason?: string } {
  if (error !== undefined) return { status: "failed", reason: errorText(error) };
  if (tombstone !== undefined) return { status: "not kept", reason: tombstone };
  return { status: endOrder === undefined ? "in flight" : "ok" };
}

/** Rows of a recording without lists of calls. */
function rowsOfJournal({ prompt, tool, other = {} }: Journal): Omit<CallRow, "depth" | "last">[] {
  return [["prompt", prompt] as const, ["tool", tool] as const, ...Object.entries(other)].flatMap(([kind, rows]) =>
    Object.values(rows).map(({ contentHash, output, error }): Omit<CallRow, "depth" | "last"> => ({
      row: "call",
      kind,
      contentHash,
      ...(error === undefined ? { status: "ok", output } : { status: "not kept", reason: error }),
    })),
  );
}

export function errorText(error: unknown): string {
  const { name, message } = (error ?? {}) as Partial<ErrorInfo>;
  return [name, message].filter((part) => typeof part === "string" && part !== "").join(": ") || "(unknown)";
}

/** The requests of a list of calls; prompts are kept as what they add to another. */
class Requests {
  readonly #calls: readonly CallRecord[];
  readonly #texts: readonly unknown[];
  readonly #messages = new Map<number, unknown[]>();

  constructor(calls: readonly CallRecord[], texts: readonly unknown[]) {
    this.#calls = calls;
    this.#texts = texts;
  }

  of(index: number): unknown {
    const request = this.#calls[index]?.request;
    if (request === undefined) return undefined;
    if ("document" in request) return this.#texts[request.document];
    const base = request.base === undefined ? [] : (this.#messages.get(request.base) ?? []);
    const messages = [...base, ...request.add.map((at) => this.#texts[at])];
    this.#messages.set(index, messages);
    const parts = (["model", "options", "schema", "tools"] as const).flatMap((name) => {
      const at = request[name];
      return at === undefined ? [] : [[name, this.#texts[at]] as const];
    });
    return { messages, ...Object.fromEntries(parts) };
  }
}
