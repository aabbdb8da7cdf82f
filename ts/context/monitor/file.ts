// A file that always contains one complete state, the latest one.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

import { PRIVATE, replaceFile, replacementOf } from "../../files/replace.js";
import { calling, native } from "../../native.js";
import { writeAtExit } from "../../files/at-exit.js";

// Saved at load time, so that fake timers of a test do not stop the monitor.
const { setImmediate } = globalThis;

/** Builds the document to write. Called only when it is written, because a newer state may replace it first. */
export type State = () => Buffer;

export class MonitorFile {
  readonly path: string;
  readonly #human: boolean;
  readonly #onError: (error: unknown) => void;
  #next: State | undefined;
  #writing: Promise<void> | undefined;
  /** Number of states so far, so that a slow write does not replace a newer state. */
  #version = 0;
  #cancelExit: (() => void) | undefined;

  constructor(path: string, human: boolean, onError: (error: unknown) => void) {
    this.path = path;
    this.#human = human;
    this.#onError = onError;
  }

  /** Schedules a write of the state. A newer state replaces it if it comes first. */
  put(state: State): void {
    this.#next = state;
    this.#version += 1;
    this.#cancelExit ??= writeAtExit(() => this.#writeAtExit());
    this.#writing ??= this.#work();
  }

  putNow(state: State): void {
    this.#next = undefined;
    this.#version += 1;
    this.#try(() => this.#writeNow(state));
  }

  /** Resolves when the last state is written, or its write has failed. */
  async idle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #work(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    for (let state = this.#next; state !== undefined; state = this.#next) {
      const version = this.#version;
      try {
        await this.#write(state, version);
      } catch (error) {
        this.#onError(error);
      }
      // Kept until here: if the process exits during the write, the exit handler writes this state.
      if (this.#version === version) this.#next = undefined;
    }
    this.#cancelExit?.();
    this.#cancelExit = undefined;
    this.#writing = undefined;
  }

  async #write(state: State, version: number): Promise<void> {
    const text = await native.formatMonitorBytes(state(), this.#human);
    if (text == null)
      throw new TypeError("The monitor document cannot be formatted: the redactor returned no list of messages");
    await mkdir(dirname(this.path), { recursive: true });
    const file = replacementOf(this.path, PRIVATE);
    try {
      await writeFile(file.temporary, text, file.options);
      // Synchronous, so that no newer state can be written between this check and the rename.
      if (this.#version === version) file.finish();
      else file.discard();
    } catch (error) {
      file.discard();
      throw error;
    }
  }

  #writeNow(state: State): void {
    const text = calling(() => native.formatMonitor(state(), this.#human));
    replaceFile(this.path, text, PRIVATE);
  }

  #writeAtExit(): void {
    const state = this.#next;
    if (state !== undefined) this.#try(() => this.#writeNow(state));
  }

  #try(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#onError(error);
    }
  }
}
