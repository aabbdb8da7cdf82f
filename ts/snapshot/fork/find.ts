import type { CallRecord } from "../../types/snapshot.js";
import type { Change, ContentHashTarget } from "./changes.js";
import { ForkError } from "../../errors/index.js";
import { framesUnder, type FrameNode, type RowNode } from "./tree.js";
import { unknownName } from "./unknown-name.js";

/** What a change is for. */
export type Entry = CallEntry | RowEntry | FrameEntry;

export interface CallEntry {
  readonly type: "call";
  readonly node: FrameNode;
  /** Index of the frame's generation that it was made in. */
  readonly generation: number;
  readonly call: CallRecord;
}

export interface RowEntry {
  readonly type: "row";
  readonly node: FrameNode;
  readonly generation: number;
  readonly row: RowNode;
}

export interface FrameEntry {
  readonly type: "frame";
  readonly node: FrameNode;
}

/**
 * Finds what a change is for.
 * @throws ForkError that lists what there is, if it is not there or is not the only one.
 */
export function findEntry(entries: Entries, change: Change): Entry {
  const { at, given, path } = change;
  const found = "callId" in at ? findCallId(entries, at.callId, change) : findContentHash(entries.all, at, change);
  const { occurrence = found.length - 1 } = at;
  const entry = inOrder(found, at.occurrence === undefined, change)[occurrence];
  if (entry !== undefined) return entry;
  const numbers = found.length === 1 ? "only one, number 0" : `${found.length}, from 0 to ${found.length - 1}`;
  throw new ForkError(`${path}.at.occurrence`, `no number ${occurrence}: there is ${numbers}.`, { at: given });
}

/** A name for messages. */
export function nameOf(entry: Entry): string {
  if (entry.type === "frame") return JSON.stringify(entry.node.frame.callId);
  return entry.type === "call" ? JSON.stringify(entry.call.callId) : `the row ${entry.row.contentHash}`;
}

/** Place from which on the run had the outcome, where it has ended and the place is known. */
export function endOf(entry: Entry): number | undefined {
  if (entry.type === "row") return undefined;
  return entry.type === "frame" ? entry.node.frame.endOrder : (entry.call.answerOrder ?? entry.call.endOrder);
}

function startOf(entry: Entry): number | undefined {
  if (entry.type === "row") return undefined;
  return (entry.type === "frame" ? entry.node.frame : entry.call).startOrder;
}

/** All that can be changed, frames before what is in them. */
export class Entries {
  readonly all: readonly Entry[];
  readonly byCallId: ReadonlyMap<string, readonly Entry[]>;

  constructor(root: FrameNode) {
    this.all = framesUnder(root).flatMap((node): Entry[] => [
      { type: "frame", node },
      ...node.generations.flatMap(({ calls, rows }, generation): Entry[] => [
        ...calls.map((call): Entry => ({ type: "call", node, generation, call })),
        ...rows.map((row): Entry => ({ type: "row", node, generation, row })),
      ]),
    ]);
    const byCallId = new Map<string, Entry[]>();
    for (const entry of this.all) {
      if (entry.type === "row") continue;
      const { callId } = entry.type === "call" ? entry.call : entry.node.frame;
      const known = byCallId.get(callId);
      if (known === undefined) byCallId.set(callId, [entry]);
      else known.push(entry);
    }
    this.byCallId = byCallId;
  }
}

function findCallId(entries: Entries, callId: string, { path, given }: Change): readonly Entry[] {
  const found = entries.byCallId.get(callId);
  if (found !== undefined) return found;
  const hasRows = entries.all.some(({ type }) => type === "row");
  const hint = hasRows ? " Rows without a list of calls have none: give their contentHash." : "";
  const message = `no call or frame ${JSON.stringify(callId)} in the snapshot.${hint}`;
  throw unknownName(`${path}.at`, message, callId, entries.byCallId.keys(), given);
}

function findContentHash(
  all: readonly Entry[],
  { contentHash, frame, kind }: ContentHashTarget,
  { path, given }: Change,
): Entry[] {
  const requests = all.flatMap((entry) => (entry.type === "frame" ? [] : [{ entry, ...requestOf(entry) }]));
  const frames = requests.filter((request) => frame === undefined || request.frame === frame);
  if (frame !== undefined && frames.length === 0) {
    const known = requests.map((request) => request.frame);
    throw unknownName(`${path}.at.frame`, `no frame ${JSON.stringify(frame)} with calls.`, frame, known, given);
  }
  const kinds = frames.filter((request) => kind === undefined || request.kind === kind);
  if (kind !== undefined && kinds.length === 0) {
    const known = frames.map((request) => request.kind);
    throw unknownName(`${path}.at.kind`, `no call of kind ${JSON.stringify(kind)}.`, kind, known, given);
  }
  const found = kinds.filter((request) => request.contentHash === contentHash);
  if (found.length > 0) return found.map(({ entry }) => entry);
  const elsewhere = requests.filter((request) => request.contentHash === contentHash);
  const where = elsewhere.map((request) => `kind ${JSON.stringify(request.kind)} in ${JSON.stringify(request.frame)}`);
  const message = `no call with the contentHash ${JSON.stringify(contentHash)}${
    where.length === 0 ? "." : ` here, but of ${[...new Set(where)].slice(0, 5).join(", ")}.`
  }`;
  throw unknownName(
    `${path}.at`,
    message,
    contentHash,
    kinds.map((request) => request.contentHash),
    given,
  );
}

function requestOf(entry: CallEntry | RowEntry): { frame: string; kind: string; contentHash: string } {
  const { kind, contentHash } = entry.type === "call" ? entry.call : entry.row;
  return { frame: entry.node.frame.callId, kind, contentHash };
}

/** In order of the starts. What was recorded without an order stays in that of the tree; the last of it is not known. */
function inOrder(found: readonly Entry[], wantsLast: boolean, { path, given }: Change): readonly Entry[] {
  const places = found.map((entry) => ({ entry, start: startOf(entry) }));
  if (places.every(({ start }) => start !== undefined)) {
    return places.toSorted((left, right) => (left.start ?? 0) - (right.start ?? 0)).map(({ entry }) => entry);
  }
  const frames = found.map(({ node }) => node.frame.callId);
  if (wantsLast && new Set(frames).size > 1) {
    const message = `there are ${found.length}, and no order of them is known: give at.frame or at.occurrence.`;
    throw unknownName(`${path}.at`, message, undefined, frames, given);
  }
  return found;
}
