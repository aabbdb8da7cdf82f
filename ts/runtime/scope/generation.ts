import type { ContentPart } from "../../types/messages.js";
import type { Tool } from "../../types/tool.js";
import type { BudgetWatcher } from "./watcher.js";

/** The prompt that a handler assembles in one generation of its agent. */
export class Generation {
  readonly id: number;
  readonly systems: string[] = [];
  readonly instructions: ContentPart[][] = [];
  readonly tools: Map<string, Tool> = new Map();
  readonly budgetWatchers: BudgetWatcher[] = [];
  prompted: boolean = false;
  readonly #counters = new Map<string, number>();
  readonly #reserved = new Set<string>();

  constructor(id: number) {
    this.id = id;
  }

  /** Number of the next call with this type and id, from 0. */
  next(type: string, id: string): number {
    const key = `${type}:${id}`;
    let seq = this.#counters.get(key) ?? 0;
    while (this.#reserved.delete(`${key}:${seq}`)) seq += 1;
    this.#counters.set(key, seq + 1);
    return seq;
  }

  /** Leaves out callIds (without the path of the frame) of recorded calls and frames that are not asked again. */
  reserve(names: readonly string[]): void {
    for (const name of names) this.#reserved.add(name);
  }
}
