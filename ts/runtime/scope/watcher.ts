import type { StreamEvent } from "../../types/model.js";
import type { BudgetState, UsageStats } from "../../types/snapshot.js";

/**
 * A callback that watches a run. Watching must not change what is watched: what the callback throws, or its promise
 * is rejected with, is shown by `console.warn` the first time and goes nowhere else.
 */
export class Watcher<Args extends readonly unknown[]> {
  readonly #name: string;
  readonly #callback: (...args: Args) => unknown;
  #busy = false;
  #failed = false;

  /** `name`: what the warning calls it, such as `equipBudget's onUpdate`. */
  constructor(name: string, callback: (...args: Args) => unknown) {
    this.#name = name;
    this.#callback = callback;
  }

  /** Not called for what the callback itself causes while it runs: that would have no end. */
  call(...args: Args): void {
    if (this.#busy) return;
    this.#busy = true;
    try {
      const result = this.#callback(...args);
      // A rejection that nobody handles would end the process.
      if (isThenable(result)) result.then(undefined, (error: unknown) => this.#report(error));
    } catch (error) {
      this.#report(error);
    } finally {
      this.#busy = false;
    }
  }

  #report(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    console.warn(`agent-rewind: ${this.#name} failed; the run goes on, its further errors are not shown.`, error);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** What a frame has used, told at each use. */
export interface BudgetUpdate extends BudgetState {
  /** What was used just now, in this frame or under it. */
  readonly delta: UsageStats;
}

export type BudgetWatcher = Watcher<[BudgetUpdate]>;

/** What a consumer of a model's answer is told beside each event. */
export interface StreamInfo {
  readonly agentId: string;
  /** Path of the call, such as `root/agent:writer:0/prompt:gpt:0`; the same for all events of an answer. */
  readonly callId: string;
  /** Number of the turn in its prompt, from 0. */
  readonly step: number;
  /** Whether the answer comes from a recording: its reasoning, its text and each tool call are then one event each. */
  readonly replayed: boolean;
}

/**
 * Takes a model's answer as it comes. Events are copies; what the consumer throws goes to `console.warn`, once, and
 * what it returns is not waited for.
 */
export type StreamConsumer = (event: StreamEvent, info: StreamInfo) => unknown;

export type StreamWatcher = Watcher<[event: StreamEvent, info: StreamInfo]>;
