import type { UsageStats } from "../../types/snapshot.js";
import type { Entry } from "./find.js";
import { endOf } from "./find.js";
import { framesUnder, lastOf, withoutCalls, type FrameNode, type GenerationNode } from "./tree.js";

/** An entry that is taken out, or after which everything is. */
export interface Drop {
  readonly entry: Entry;
  /** The entry itself stays: it gets another outcome. */
  readonly stays: boolean;
}

/** Makes the generations the last ones that entries stand in, so that a replay comes to them. */
export class Routes {
  readonly #last = new Map<FrameNode, number>();

  add(entry: Entry): void {
    const { node } = entry;
    if (entry.type === "frame") this.#addUp(node.parent, node.generation);
    else this.#addUp(node, entry.generation);
  }

  /** Index of the last generation that the frame may keep. */
  lastOf(node: FrameNode): number {
    return Math.min(node.generations.length - 1, this.#last.get(node) ?? Infinity);
  }

  #addUp(from: FrameNode | undefined, generation: number): void {
    for (let node = from, last = generation; node !== undefined; last = node.generation, node = node.parent) {
      this.#last.set(node, Math.min(last, this.#last.get(node) ?? Infinity));
    }
  }
}

/**
 * Takes entries out, and what was started after they had ended, in the whole tree. What had started before stays, also
 * if it ended later; frames that ended later, and those that something was taken out of, run again.
 *
 * A call or frame that is taken out keeps its place, as one that has started and holds nothing yet: so other
 * occurrences of the same request keep theirs, and failures before it still count as handled.
 *
 * @param isLegacy the recording does not tell the generations of a frame apart.
 */
export function takeOut(root: FrameNode, drops: readonly Drop[], routes: Routes, isLegacy: boolean): void {
  const cut = drops.reduce((first, { entry }) => Math.min(first, endOf(entry) ?? Infinity), Infinity);
  const lost = new Set<FrameNode>();
  for (const { entry, stays } of drops) {
    const owner = entry.type === "frame" ? entry.node.parent : entry.node;
    if (owner !== undefined) lost.add(owner);
    if (!stays) empty(entry);
  }
  const emptied = new Set(drops.flatMap(({ entry, stays }) => (entry.type === "frame" && !stays ? [entry.node] : [])));

  const open = [root];
  for (const node of open) {
    if (trim(node, cut, routes)) lost.add(node);
    open.push(...lastOf(node.generations).children);
  }
  // Children stand behind their parents.
  for (const node of framesUnder(root).toReversed())
    if (lost.has(node) && node.parent !== undefined) lost.add(node.parent);
  const reopened = new Set<FrameNode>();
  for (const node of open) {
    if (emptied.has(node)) continue;
    if (
      lost.has(node) ||
      (node.frame.endOrder ?? -1) > cut ||
      (isOrphan(node) && node.parent !== undefined && reopened.has(node.parent))
    ) {
      reopened.add(node);
      delete node.frame.endOrder;
      runAgain(node);
    }
    if (lost.has(node)) resetToStart(node, isLegacy);
  }
}

/** The frame has not ended yet. `stopped` stays: it says which failures ended the run that was recorded. */
export function runAgain({ frame }: FrameNode): void {
  frame.state = { status: "running" };
  delete frame.outputTypes;
}

const OUTCOME = [
  "answerOrder",
  "endOrder",
  "output",
  "types",
  "tombstone",
  "error",
  "stopped",
  "handled",
  "meta",
] as const;

function empty(entry: Entry): void {
  if (entry.type === "row") {
    const generation = entry.node.generations[entry.generation];
    if (generation !== undefined) generation.rows = generation.rows.filter((row) => row !== entry.row);
  } else if (entry.type === "call") {
    for (const field of OUTCOME) delete entry.call[field];
  } else {
    emptyFrame(entry.node);
  }
}

function emptyFrame(node: FrameNode): void {
  const { frame } = node;
  const first = (node.generations[0] as GenerationNode).start;
  const start = first === undefined || first.id === 0 ? first : undefined;
  node.generations = [{ start, calls: [], rows: [], children: [], latest: -Infinity }];
  frame.memory = start?.memory ?? {};
  frame.budgetState = { own: noUsage(), aggregate: noUsage() };
  runAgain(node);
  for (const field of ["memoryHashes", "endOrder", "stopped", "handled"] as const) delete frame[field];
}

function noUsage(): UsageStats {
  return { costs: {}, totalTokens: 0, promptTokens: 0, completionTokens: 0, callCount: 0, items: [] };
}

/** Takes out what was started after the cut; tells whether there was anything. */
function trim(node: FrameNode, cut: number, routes: Routes): boolean {
  const last = Math.min(routes.lastOf(node), lastBefore(node.generations, cut));
  const rebirths = node.generations.length - 1 - last;
  node.generations = node.generations.slice(0, last + 1);
  const generation = lastOf(node.generations);
  const calls = new Set(generation.calls.filter(({ startOrder }) => startOrder > cut));
  const children = generation.children.filter(({ frame }) => !((frame.startOrder ?? -1) > cut));
  const lost = rebirths > 0 || calls.size > 0 || children.length < generation.children.length;
  generation.calls = withoutCalls(generation.calls, calls);
  generation.children = children;
  return lost;
}

/**
 * The last generation that had started before the cut. Starts of generations are not recorded: the last one in which
 * something was started before the cut is sure, and if anything came after the cut, later ones have to be made again.
 */
function lastBefore(generations: readonly GenerationNode[], cut: number): number {
  const startedBefore = ({ calls, children }: GenerationNode): boolean =>
    calls.some(({ startOrder }) => startOrder < cut) || children.some(({ frame }) => (frame.startOrder ?? cut) < cut);
  const sure = Math.max(0, generations.findLastIndex(startedBefore));
  return generations.slice(sure).some(({ latest }) => latest > cut) ? sure : generations.length - 1;
}

/** Whether the frame was closed because its parent ended. */
function isOrphan({ frame }: FrameNode): boolean {
  return frame.startOrder !== undefined && frame.endOrder === undefined && frame.state.status === "failed";
}

/** What the memory was at the cut is not known, if not that at the start, from where a replay arrives at it. */
function resetToStart(node: FrameNode, isLegacy: boolean): void {
  const last = lastOf(node.generations);
  if (isLegacy && last.start !== undefined && last.start.id >= node.generations.length) {
    // All generations stand in one, so they are gone through from the first, which starts with nothing; no
    // generation is told, so what stands there answers the later ones too.
    last.start = undefined;
    node.frame.memory = {};
  }
  if (last.start?.memory !== undefined) node.frame.memory = last.start.memory;
}
