// A file that always holds one whole state, the last one.

import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";

import { temporaryFor } from "../../files/temporary.js";
import { calling, native } from "../../native.js";
import { writeAtExit } from "../../trace/at-exit.js";

/** Only the owner may read what was sent to a model. */
const MODE = 0o600;

// Taken at load: fake timers of a test must not stop the monitor.
const { setImmediate } = globalThis;

/** A state to be written: the monitor's document. It is made when its turn comes. */
export type State = () => Buffer;

export class MonitorFile {
  readonly path: string;
  readonly #human: boolean;
  readonly #onError: (error: unknown) => void;
  #next: State | undefined;
  #writing: Promise<void> | undefined;
  /** Counts the states, so that a slow write does not put an old one over a new one. */
  #version = 0;
  #cancelExit: (() => void) | undefined;

  constructor(path: string, human: boolean, onError: (error: unknown) => void) {
    this.path = path;
    this.#human = human;
    this.#onError = onError;
  }

  /** Has the state written soon, if no newer one comes first. */
  put(state: State): void {
    this.#next = state;
    this.#version += 1;
    this.#cancelExit ??= writeAtExit(() => this.#writeAtExit());
    this.#writing ??= this.#work();
  }

  /** Writes the state at once. */
  putNow(state: State): void {
    this.#next = undefined;
    this.#version += 1;
    this.#try(() => this.#writeNow(state));
  }

  /** Until the last state is written, or could not be. */
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
      // At an exit during the write this state is still to be written.
      if (this.#version === version) this.#next = undefined;
    }
    this.#cancelExit?.();
    this.#cancelExit = undefined;
    this.#writing = undefined;
  }

  async #write(state: State, version: number): Promise<void> {
    const text = await native.formatMonitorBytes(state(), this.#human);
    if (text == null) throw new TypeError("the monitor's document cannot be formatted: a redactor left no messages");
    await mkdir(dirname(this.path), { recursive: true });
    const temporary = temporaryFor(this.path);
    try {
      const file = await open(temporary, "wx", MODE);
      try {
        await file.writeFile(text);
      } finally {
        await file.close();
      }
      // At once, so that nothing newer can come in between this look and the rename.
      if (this.#version === version) renameSync(temporary, this.path);
      else await rm(temporary, { force: true });
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  #writeNow(state: State): void {
    const text = Buffer.from(
      calling(() => native.formatMonitor(state(), this.#human)),
      "utf8",
    );
    mkdirSync(dirname(this.path), { recursive: true });
    const temporary = temporaryFor(this.path);
    try {
      const fd = openSync(temporary, "wx", MODE);
      try {
        for (let at = 0; at < text.length;) at += writeSync(fd, text, at);
      } finally {
        closeSync(fd);
      }
      renameSync(temporary, this.path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
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
