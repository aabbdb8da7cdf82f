import { closeSync, fstatSync, openSync, readSync } from "node:fs";

import { AuditLogError } from "../errors/audit.js";
import { readLine, type Line } from "./line.js";

/** The end of a log file. */
export interface Tail {
  last: Line;
  /** Bytes after the last complete line, without a newline. Empty after a clean end. */
  torn: Buffer;
  /** True if the last byte of the file is a newline. */
  ended: boolean;
}

const NEWLINE = 0x0a;
const BLOCK = 64 * 1024;

/**
 * Reads the end of a file backwards.
 * @returns `undefined` if the file has no complete line.
 * @throws AuditLogError if the last line was changed after it was written.
 */
export function readTail(path: string, key: string | undefined): Tail | undefined {
  const fd = openSync(path, "r");
  try {
    const { size } = fstatSync(fd);
    let text = Buffer.alloc(0);
    let from = size;
    for (;;) {
      const tail = tailOf(text, from === 0, path, key);
      if (tail !== undefined || from === 0) return tail;
      // Doubles the size, so that a long line is not copied in many small steps.
      const length = Math.min(from, Math.max(BLOCK, text.length));
      from -= length;
      text = Buffer.concat([readAt(fd, from, length), text]);
    }
  } finally {
    closeSync(fd);
  }
}

function readAt(fd: number, from: number, length: number): Buffer {
  const block = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const count = readSync(fd, block, read, length - read, from + read);
    if (count === 0) break;
    read += count;
  }
  return block.subarray(0, read);
}

/** `whole`: the text starts at the start of the file. */
function tailOf(text: Buffer, whole: boolean, path: string, key: string | undefined): Tail | undefined {
  const ended = text.at(-1) === NEWLINE;
  let end = ended ? text.length - 1 : text.length;
  while (end > 0) {
    const start = text.lastIndexOf(NEWLINE, end - 1) + 1;
    if (start === 0 && !whole) return undefined;
    const read = readLine(text.subarray(start, end), key);
    if ("line" in read) {
      const rest = text.subarray(Math.min(end + 1, text.length));
      return { last: read.line, torn: ended && rest.length > 0 ? rest.subarray(0, -1) : rest, ended };
    }
    if ("changed" in read) {
      throw new AuditLogError(
        `The audit log ${path} cannot be continued: its line ${read.changed.seq} was changed after it was written, or ` +
          "was written with another key. Check the log with verifyLog, then move it away.",
        { path, code: "ERR_REWIND_AUDIT_BROKEN" },
      );
    }
    end = start - 1;
  }
  return undefined;
}
