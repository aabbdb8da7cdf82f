// Resuming makes the calls again whose failure ended the run, and replays those that the program handled. It tells
// them apart by what was started after them, some of which a fork takes out: what was handled has to stay so.

import type { CallRecord } from "../../types/snapshot.js";
import { framesUnder, lastOf, type FrameNode } from "./tree.js";

interface Failure {
  stopped?: true;
  handled?: true;
  answerOrder?: number;
  endOrder?: number;
}

/** The failed calls under a frame that the program handled. */
export function handledFailures(root: FrameNode): Set<CallRecord> {
  const tree = new Tree();
  const handled = new Set<CallRecord>();
  for (const node of framesUnder(root)) {
    for (const [generation, { calls }] of node.generations.entries()) {
      for (const call of calls) if (isFailure(call) && !tree.endedTheRun(node, generation, call)) handled.add(call);
    }
  }
  return handled;
}

/**
 * Sees to it that failures are replayed.
 * @param failures failed calls, and frames that failed.
 */
export function keepHandled(root: FrameNode, failures: ReadonlySet<object>): void {
  if (failures.size === 0) return;
  const tree = new Tree();
  for (const node of framesUnder(root)) {
    const { frame, parent, generations } = node;
    if (failures.has(frame) && parent !== undefined && tree.endedTheRun(parent, node.generation, frame)) handle(frame);
    const generation = generations.length - 1;
    for (const call of lastOf(generations).calls) {
      if (failures.has(call) && isFailure(call) && tree.endedTheRun(node, generation, call)) handle(call);
    }
  }
}

function handle(failure: Failure): void {
  delete failure.stopped;
  failure.handled = true;
}

function isFailure(call: CallRecord): boolean {
  return call.error !== undefined && !("output" in call);
}

/** Follows failures up the tree, as a replay does. */
class Tree {
  /** The last start in each frame's last generation. */
  readonly #lastStarts = new Map<FrameNode, number>();

  /**
   * Whether a failure ended the run: it, or what it made fail, was the last thing in each frame. A frame that completed,
   * was reborn, or went on to something else had handled it.
   */
  endedTheRun(from: FrameNode, inGeneration: number, failure: Failure): boolean {
    let { stopped, handled } = failure;
    let endOrder = failure.answerOrder ?? failure.endOrder;
    let generation = inGeneration;
    for (let node: FrameNode | undefined = from; node !== undefined; node = node.parent) {
      if (generation < node.generations.length - 1 || node.frame.state.status === "completed") return false;
      if (stopped !== true && (handled === true || endOrder === undefined || this.#lastStart(node) > endOrder))
        return false;
      ({ stopped } = node.frame);
      handled = node.frame.handled ?? handled;
      endOrder = node.frame.endOrder ?? endOrder;
      ({ generation } = node);
    }
    return true;
  }

  #lastStart(node: FrameNode): number {
    const known = this.#lastStarts.get(node);
    if (known !== undefined) return known;
    const { calls, children } = lastOf(node.generations);
    // What an earlier run recorded and this one had not reached was not started after anything of this one.
    const starts = [...calls, ...children.map(({ frame }) => frame)]
      .filter(({ unreached }) => unreached !== true)
      .map(({ startOrder }) => startOrder ?? -1);
    const last = starts.reduce((latest, start) => Math.max(latest, start), -1);
    this.#lastStarts.set(node, last);
    return last;
  }
}
