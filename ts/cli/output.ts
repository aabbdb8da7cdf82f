// Prints to a stream that may be a terminal, or a pipe that is closed early. Uses colors on terminals only.

import type { WriteStream } from "node:tty";
import { styleText } from "node:util";

import { printable } from "../errors/printable.js";
import type { AgentSnapshot } from "../types/snapshot.js";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

export class Output {
  readonly #stream: NodeJS.WriteStream;
  readonly #colors: boolean;
  #pending = "";
  #closed = false;
  #failure: Error | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    const { NO_COLOR, TERM } = process.env;
    this.#colors = (stream as Partial<WriteStream>).isTTY === true && !NO_COLOR && TERM !== "dumb";
    stream.on("error", (error: NodeJS.ErrnoException) => this.#close(error));
  }

  /** The error that stopped the output, such as a full disk. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  #close(error: NodeJS.ErrnoException): void {
    this.#closed = true;
    // A closed pipe means that the reader has seen enough. This is not a failure.
    if (error.code !== "EPIPE") this.#failure ??= error;
  }

  /** The columns of the terminal, or of the environment; `undefined` if lines may have any length. */
  get width(): number | undefined {
    const { columns } = this.#stream as Partial<WriteStream>;
    const set = Number(process.env["COLUMNS"]);
    return columns ?? (Number.isInteger(set) && set > 0 ? set : undefined);
  }

  /** False if the reader closed the pipe, or a write failed. */
  get open(): boolean {
    return !this.#closed;
  }

  style(style: Style, text: string): string {
    // The constructor has checked the stream and the environment. On Node 20, styleText does not.
    return this.#colors ? styleText(style, text, { validateStream: false }) : text;
  }

  /** Prints a line. */
  async line(text = ""): Promise<void> {
    this.#pending += `${text}\n`;
    if (this.#pending.length >= 64 * 1024) await this.flush();
  }

  /** Prints a value as JSON. */
  async json(value: unknown): Promise<void> {
    // JSON escapes only some control characters. Line breaks at this point are its indentation.
    await this.line(printable(JSON.stringify(value, undefined, 2), "\n"));
  }

  async raw(bytes: string | Uint8Array): Promise<void> {
    await this.flush();
    await this.#write(bytes);
  }

  async flush(): Promise<void> {
    const text = this.#pending;
    this.#pending = "";
    if (text !== "") await this.#write(text);
  }

  async #write(bytes: string | Uint8Array): Promise<void> {
    if (this.#closed) return;
    await new Promise<void>((resolve) => {
      this.#stream.write(bytes, (error) => {
        if (error != null) this.#close(error);
        resolve();
      });
    });
  }
}

/** Standard output for results, standard error for everything else. */
export interface Outputs {
  readonly out: Output;
  readonly err: Output;
}

/** Prints the warnings of a restored snapshot. */
export async function printWarnings(
  { warnings = [] }: Pick<AgentSnapshot, "warnings">,
  to: Output,
  mark = "",
): Promise<void> {
  for (const { code, message } of warnings)
    await to.line(to.style("yellow", `${mark}${visible(code)}: ${visible(message)}`));
}

/** Escapes control characters, so that text of a recording cannot act on the terminal. */
export function visible(text: string, limit: number = Infinity): string {
  const clean = printable(text, "");
  return clean.length > limit ? `${clean.slice(0, limit - 1)}…` : clean;
}

/** As {@link visible}, but keeps line breaks and tabs. */
export function visibleLines(text: string): string {
  return printable(text);
}

const ESCAPE = "\u001b";
/** Styles and single characters. */
const PARTS = new RegExp(`${ESCAPE}\\[\\d+m|[^]`, "gu");

/** A line cut to `width` columns, or padded to them. It may contain styles, which take no room. */
export function fitTo(line: string, width: number, pad = false): string {
  const parts = line.match(PARTS) ?? [];
  const columns = parts.filter((part) => part.length < 3).length;
  if (columns <= width) return pad ? line + " ".repeat(width - columns) : line;
  let room = width - 1;
  const kept = parts.filter((part) => part.length >= 3 || (room -= 1) >= 0);
  return `${kept.join("")}…`;
}

export function time(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 120_000) return `${(milliseconds / 1_000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
  return `${Math.round(milliseconds / 60_000)} min`;
}
