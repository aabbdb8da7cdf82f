import type { AgentSnapshot, Provenance } from "../types/snapshot.js";
import { stringifySnapshot } from "./files.js";
import { checkChanges, type Change, type ForkChange } from "./fork/changes.js";
import { Routes, runAgain, takeOut } from "./fork/drop.js";
import { ForkError } from "../errors/index.js";
import { handledFailures, keepHandled } from "./fork/failures.js";
import { Entries, findEntry, nameOf, type Entry } from "./fork/find.js";
import { editMemory, settleMemory } from "./fork/memory.js";
import { setOutcome, type Outcome } from "./fork/outcomes.js";
import { framesUnder, lastOf, loadFrames, storeFrames, type FrameNode } from "./fork/tree.js";
import { snapshotObject } from "./handle.js";
import { checkSnapshot } from "./open.js";

export type { CallIdTarget, ContentHashTarget, ForkChange, ForkTarget } from "./fork/changes.js";
export { ForkError, isForkError } from "../errors/index.js";

/** A change, and what it is for. */
interface Edit {
  readonly change: Change;
  readonly entry: Entry;
  /** The call, row or frame itself: the same for all changes of it. */
  readonly subject: object;
  readonly outcome: Outcome | undefined;
}

/**
 * Makes a new snapshot out of another one: with calls and sub-agents taken out, so that they are made again; with other
 * outputs or failures, that steer the run elsewhere; with other memory. The other one stays as it is.
 *
 * All changes name places in the given snapshot, so their order does not matter; of two outputs for one call the later
 * counts.
 *
 * - What is taken out keeps its place, as started and holding nothing yet. What was started after its end goes, in the
 *   whole tree; what had started before stays, finished or not. Frames that ended later, and all above what was taken
 *   out, run again.
 * - A frame that lost something has the memory of its generation's start, since what it was in between was not recorded;
 *   keys that were edited stay so. Generations that started later are gone. What was used up of budgets stays used up.
 * - A change in an earlier generation makes that one the last: later ones would not come to it.
 * - In recordings without lists of calls (old dumps, snapshots made by hand) requests are named by their contentHash.
 *   Nothing is known there of what came later, so a dropped row goes alone.
 *
 * @returns the fork; its `provenance.forkedFrom` names the snapshot that it was made of.
 * @throws ForkError for a change that does not fit, with the place, and with what there is to be changed.
 * @throws InvalidSnapshotError if the given snapshot is not one.
 */
export function forkSnapshot(snapshot: AgentSnapshot, changes: ForkChange | readonly ForkChange[]): AgentSnapshot {
  const checked = checkChanges(changes);
  const source = JSON.parse(stringifySnapshot(snapshot)) as AgentSnapshot;
  const root = loadFrames(source.root);
  for (const node of framesUnder(root)) settleMemory(node);
  const entries = new Entries(root);
  const edits = checked.map((change) => editOf(change, findEntry(entries, change)));

  const failures: Set<object> = handledFailures(root);
  const routes = new Routes();
  for (const { entry } of edits) routes.add(entry);
  const answered = new Set(edits.flatMap(({ subject, outcome }) => (outcome === undefined ? [] : [subject])));
  const drops = edits.filter(({ change }) => change.drop);
  takeOut(
    root,
    drops.map(({ entry, subject }) => ({ entry, stays: answered.has(subject) })),
    routes,
    isLegacy(entries.all),
  );
  checkKept(root, edits);
  for (const failure of applyEdits(edits)) failures.add(failure);
  keepHandled(root, failures);
  storeFrames(root);
  return forkOf(source);
}

function editOf(change: Change, entry: Entry): Edit {
  checkFits(change, entry);
  const subject = entry.type === "call" ? entry.call : entry.type === "row" ? entry.row : entry.node;
  const { output, error } = change;
  const outcome = output !== undefined ? { output } : error !== undefined ? { error } : undefined;
  return { change, entry, subject, outcome };
}

/** @throws ForkError if what is found cannot be changed in that way. */
function checkFits({ path, given, drop, output, memory }: Change, entry: Entry): void {
  const { node } = entry;
  if (drop && entry.type === "frame" && node.parent === undefined) {
    const message = "the root cannot be taken out: nothing would be left. Run without a snapshot instead.";
    throw new ForkError(`${path}.drop`, message, { at: given });
  }
  if (memory !== undefined && entry.type !== "frame") {
    const { callId } = node.frame;
    const message = `a call has no memory. Its frame has: give at: ${JSON.stringify(callId)}.`;
    throw new ForkError(`${path}.memory`, message, { at: given, known: [callId] });
  }
  if (output === undefined || entry.type === "frame") return;
  const { kind, output: recorded } =
    entry.type === "call" ? entry.call : { kind: entry.row.kind, output: entry.row.entry.output };
  if (kind === "prompt" && isAssistantMessage(recorded) && !isAssistantMessage(JSON.parse(output.text))) {
    const message =
      'expected the assistant message, such as { role: "assistant", content: "…" }, as the prompt had given.';
    throw new ForkError(`${path}.output`, message, { at: given });
  }
}

function isAssistantMessage(value: unknown): boolean {
  return typeof value === "object" && value !== null && "role" in value && value.role === "assistant";
}

/** @throws ForkError for a change of what another change takes out. */
function checkKept(root: FrameNode, edits: readonly Edit[]): void {
  const kept = new Set<object>();
  for (const node of framesUnder(root)) {
    const { calls, rows } = lastOf(node.generations);
    for (const subject of [node, ...calls, ...rows]) kept.add(subject);
  }
  for (const { change, entry, subject, outcome } of edits) {
    if ((outcome === undefined && change.memory === undefined) || kept.has(subject)) continue;
    const message = `${nameOf(entry)} is taken out by another of the changes, as part of it or since it came later. Leave one of them out.`;
    throw new ForkError(change.path, message, { at: change.given });
  }
}

/** Gives what now fails. */
function applyEdits(edits: readonly Edit[]): object[] {
  for (const { change, entry, outcome } of edits) {
    if (outcome === undefined && change.memory === undefined) continue;
    // Their ends keep their places, so that races come out as recorded.
    const first = entry.type === "frame" && change.memory === undefined ? entry.node.parent : entry.node;
    for (let node = first; node !== undefined; node = node.parent) runAgain(node);
  }
  const answers = new Map<object, { entry: Entry; outcome: Outcome }>();
  for (const { change, entry, subject, outcome } of edits) {
    if (change.memory !== undefined) editMemory(entry.node, change.memory);
    if (outcome !== undefined) answers.set(subject, { entry, outcome });
  }
  return [...answers.values()].flatMap(({ entry, outcome }) => setOutcome(entry, outcome) ?? []);
}

/** Recordings of `@rejelly/core`: their hashes are shorter, and their generations are not told apart. */
function isLegacy(all: readonly Entry[]): boolean {
  return all.some((entry) => entry.type === "call" && !/^[\da-f]{64}$/.test(entry.call.contentHash));
}

function forkOf(source: AgentSnapshot): AgentSnapshot {
  const timestamp = Date.now();
  const { processId } = source;
  const forkedFrom: Provenance["forkedFrom"] = { processId, timestamp: source.timestamp };
  const { root, ...fields } = {
    ...source,
    processId: `fork:${processId}:${timestamp}`,
    timestamp,
    provenance: { ...source.provenance, forkedFrom },
  };
  const { handle } = checkSnapshot({ ...fields, root });
  // What the core does not keep of the fields stands in the object.
  return Object.assign(snapshotObject(handle), fields);
}
