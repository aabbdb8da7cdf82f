// The frames and calls of a snapshot, in order, as rows of a tree.

import { callMarksOf, marksOf, type CallMarks, type Marks } from "../snapshot/marks.js";
import {
  baseOf,
  nameIn,
  ReadModel,
  type ListedCall,
  type ListedFrame,
  type ListedGeneration,
} from "../snapshot/read-model.js";
import { checkSnapshot } from "../snapshot/open.js";
import type { AgentSnapshot, ErrorInfo } from "../types/snapshot.js";

export type CallStatus = "ok" | "failed" | "in flight" | "not kept";

export interface CallRow extends CallMarks {
  row: "call";
  depth: number;
  /** True for the last row under its frame. */
  last: boolean;
  kind: string;
  /** Absent in recordings without lists of calls. */
  callId?: string;
  /** The callId without the path of its frame. May contain "/". */
  name?: string;
  /** The callId of its outer call. */
  within?: string;
  contentHash: string;
  status: CallStatus;
  /** Name and message of the error, or the reason why the output was not recorded. */
  reason?: string;
  durationMs?: number;
  tokens?: number;
  output?: unknown;
  /** Returns the request, if it was recorded. */
  request?: () => unknown;
}

export interface FrameRow extends Marks {
  row: "frame";
  depth: number;
  last: boolean;
  callId: string;
  /** The callId without the path of the frame around it. */
  name: string;
  /** The callId of its outer call. */
  within?: string;
  agentId: string;
  status: string;
  reason?: string;
  /** Number of the last generation. */
  generation: number;
  calls: number;
  /** Used by the frame and all frames under it. */
  tokens: number;
}

export interface GenerationRow {
  row: "generation";
  depth: number;
  last: boolean;
  id: number;
}

export type Row = CallRow | FrameRow | GenerationRow;

type Item = Omit<CallRow, "depth" | "last"> | Omit<GenerationRow, "depth" | "last"> | { frame: ListedFrame };

interface Open {
  items: Item[];
  next: number;
  /** The prefix of the callIds in the frame. */
  base: string;
}

/** The rows of a snapshot, from the root down. */
export function rowsOf(snapshot: AgentSnapshot): Generator<Row> {
  return rowsIn(new ReadModel(checkSnapshot(snapshot).handle));
}

/** Not recursive, because frames can be nested deeply. */
function* rowsIn(model: ReadModel): Generator<Row> {
  const open: Open[] = [{ items: [{ frame: model.root }], next: 0, base: "" }];
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
    const base = baseOf(item.frame);
    open.push({ items: itemsOf(item.frame, model, base), next: 0, base });
  }
}

function frameRow(frame: ListedFrame, base: string): Omit<FrameRow, "depth" | "last"> {
  const { callId, agentId, within, state, budgetState, generations } = frame;
  const last = generations.at(-1) as ListedGeneration;
  return {
    row: "frame",
    callId,
    name: nameIn(base, callId),
    agentId,
    ...(within === undefined ? {} : { within }),
    status: state.status,
    ...marksOf(frame),
    ...(state.status === "failed" ? { reason: errorText(state.error) } : {}),
    // In recordings that do not number their generations, the position is the number.
    generation: last.id === 0 ? generations.length - 1 : last.id,
    calls: last.calls.length,
    tokens: budgetState.aggregate.totalTokens,
  };
}

function itemsOf({ generations }: ListedFrame, model: ReadModel, base: string): Item[] {
  return generations.flatMap((generation): Item[] => [
    ...(generations.length === 1 ? [] : [{ row: "generation" as const, id: generation.id }]),
    ...inOrder(generation, model, base),
  ]);
}

/** Calls without an order come first, frames without an order come last. */
function inOrder(generation: ListedGeneration, model: ReadModel, base: string): Item[] {
  const rows = generation.calls.map((call) => ({ order: call.startOrder ?? -1, item: callItem(call, model, base) }));
  const children = model.childrenOf(generation);
  const frames = children.map((frame) => ({ order: frame.startOrder ?? Infinity, item: { frame } }));
  return [...rows, ...frames].toSorted((left, right) => left.order - right.order).map(({ item }): Item => item);
}

function callItem(call: ListedCall, model: ReadModel, base: string): Item {
  const { kind, callId, within, contentHash, output, meta, request } = call;
  const usage = meta?.usage;
  const { status, reason } = statusOf(call);
  return {
    row: "call",
    kind,
    ...(callId === undefined ? {} : { callId, name: nameIn(base, callId) }),
    ...(within === undefined ? {} : { within }),
    contentHash,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...callMarksOf(call),
    ...(meta?.durationMs === undefined ? {} : { durationMs: meta.durationMs }),
    ...(usage === undefined ? {} : { tokens: usage.totalTokens }),
    ...(status === "ok" ? { output } : {}),
    ...(request === undefined ? {} : { request: () => JSON.parse(model.requestText(call) ?? "null") as unknown }),
  };
}

function statusOf({ callId, error, tombstone, endOrder }: ListedCall): { status: CallStatus; reason?: string } {
  if (error !== undefined) return { status: "failed", reason: errorText(error) };
  if (tombstone !== undefined) return { status: "not kept", reason: tombstone };
  return { status: endOrder === undefined && callId !== undefined ? "in flight" : "ok" };
}

export function errorText(error: unknown): string {
  const { name, message } = (error ?? {}) as Partial<ErrorInfo>;
  return [name, message].filter((part) => typeof part === "string" && part !== "").join(": ") || "(unknown)";
}
