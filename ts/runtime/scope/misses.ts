import type { Miss } from "../../types/miss.js";
import { programStack } from "./call-site.js";

export interface MissOptions {
  readonly mode: "live" | "resume" | "replay";
  readonly onMiss?: ((miss: Miss) => "live" | "error") | undefined;
  /** Receives each call and request that was not allowed. */
  readonly onRefused?: ((error: Error) => void) | undefined;
}

/** Decides for a run which calls without a recorded answer may be executed. */
export class Misses {
  readonly #options: MissOptions;
  readonly #outer: Misses | undefined;
  #refused: Error | undefined;
  /** Called with the first refused call or request. */
  onRefused: ((error: Error) => void) | undefined;
  /** Lines of the program's stack where it was made. */
  refusedAt: readonly string[] = [];

  /** `outer`: of the run that contains this one. */
  constructor(options: MissOptions, outer: Misses | undefined) {
    this.#options = options;
    this.#outer = outer;
  }

  /** True if the call may be executed. */
  allows(miss: Miss): boolean {
    const { mode, onMiss } = this.#options;
    if (mode === "replay") return false;
    return onMiss === undefined || onMiss(miss) !== "error";
  }

  /** Remembers a call or a request that was not allowed: the run fails with it, even if the agent catches the error. */
  refuse(error: Error): void {
    this.#options.onRefused?.(error);
    this.#outer?.refuse(error);
    if (this.#refused !== undefined) return;
    this.#refused = error;
    if (this.onRefused === undefined) return;
    this.refusedAt = programStack();
    this.onRefused(error);
  }

  /** The first one. */
  get refused(): Error | undefined {
    return this.#refused;
  }
}
