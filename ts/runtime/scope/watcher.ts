import type { StreamEvent } from "../../types/model.js";
import type { BudgetState, UsageStats } from "../../types/snapshot.js";
import { isThenable } from "../../values/thenable.js";
import { warn } from "../../errors/printable.js";

/**
 * A callback that watches a run. An observer must not change the run: the first error of the callback, thrown or
 * rejected, is printed with `console.warn`, and all others are ignored.
 */
export class Watcher<Args extends readonly unknown[]> {
  readonly #name: string;
  readonly #callback: (...args: Args) => unknown;
  #busy = false;
  #failed = false;

  /** `name`: the callback's name in the warning, such as `equipBudget's onUpdate`. */
  constructor(name: string, callback: (...args: Args) => unknown) {
    this.#name = name;
    this.#callback = callback;
  }

  /** Ignores what the callback itself causes while it runs: that would never end. */
  call(...args: Args): void {
    if (this.#busy) return;
    this.#busy = true;
    try {
      const result = this.#callback(...args);
      // An unhandled rejection would end the process.
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
    warn(`${this.#name} failed. The run continues; its further errors are not shown.`, error);
  }
}

/** The usage of a frame, reported at each use. */
export interface BudgetUpdate extends BudgetState {
  /** The use that caused this update, in this frame or below it. */
  readonly delta: UsageStats;
}

export type BudgetWatcher = Watcher<[BudgetUpdate]>;

/** Describes the origin of a stream event. */
export interface StreamInfo {
  readonly agentId: string;
  /** The callId, such as `root/agent:writer:0/prompt:gpt:0`. All events of an answer have the same. */
  readonly callId: string;
  /** Number of the turn in the prompt, from 0. */
  readonly step: number;
  /** True if the answer comes from a recording. Its reasoning, its text and each tool call are then one event each. */
  readonly replayed: boolean;
}

/**
 * Receives a model's answer while it arrives. Events are copies. The first error that the consumer throws is printed
 * with `console.warn`. Its result is not awaited.
 */
export type StreamConsumer = (event: StreamEvent, info: StreamInfo) => unknown;

export type StreamWatcher = Watcher<[event: StreamEvent, info: StreamInfo]>;
