import { createReadStream } from "node:fs";
import type { FileHandle } from "node:fs/promises";

const NEWLINE = 0x0a;

export interface FileLine {
  bytes: Buffer;
  /** From 1. */
  number: number;
  /** True if a newline ends it. Only the last line of a file may lack one. */
  ended: boolean;
}

/** Yields the lines of a file, of any length. */
export async function* linesOf(path: string, handle?: FileHandle): AsyncGenerator<FileLine> {
  const options = { highWaterMark: 256 * 1024, ...(handle === undefined ? {} : { fd: handle, autoClose: false }) };
  let parts: Buffer[] = [];
  let number = 1;
  for await (const chunk of createReadStream(path, options) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, at));
      yield { bytes: Buffer.concat(parts), number, ended: true };
      parts = [];
      number += 1;
      from = at + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }
  if (parts.length > 0) yield { bytes: Buffer.concat(parts), number, ended: false };
}
