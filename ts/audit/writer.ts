import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

import { AuditLogError } from "../errors/audit.js";
import { messageOf } from "../errors/base.js";
import { encodeMarked } from "../values/encode.js";
import { rotatedFiles, rotatedPath } from "./files.js";
import { hashesOf } from "./hash-only.js";
import { NO_LINE, tornOf, writeLine, type AuditHead, type LineBody } from "./line.js";
import { lock } from "./lock.js";
import type { AuditLogOptions } from "./options.js";
import { readTail, type Tail } from "./tail.js";

const MODE = 0o600;
/** Maximum size of incomplete start lines, after several starts that were killed. */
const LONGEST_TORN_START = 4_096;

/** Appends lines to the files of a log. */
export class Writer {
  readonly path: string;
  readonly #options: AuditLogOptions;
  readonly #unlock: () => void;
  #fd: number | undefined;
  #size = 0;
  #file = 1;
  #head: AuditHead = { seq: -1, hash: NO_LINE };
  /** True if a write failed, so that the end of the file is unknown. */
  #unsure = false;
  #closed = false;

  constructor(path: string, options: AuditLogOptions) {
    this.path = path;
    this.#options = options;
    this.#unlock = this.#failing(() => {
      mkdirSync(dirname(path), { recursive: true });
      return lock(path);
    });
    try {
      this.#failing(() => this.#open());
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get head(): AuditHead {
    return { ...this.#head };
  }

  append(record: object): AuditHead {
    if (this.#closed) throw new AuditLogError(`The audit log ${this.path} is closed.`, { path: this.path });
    if (typeof record !== "object" || record === null || Array.isArray(record))
      throw new TypeError("auditLog.append: the record must be an object");
    const { mode, redact, maxBytes } = this.#options;
    const { text } = encodeMarked(record);
    const whole = JSON.parse(text) as Record<string, unknown>;
    const kept = mode === "hashes" ? hashesOf(whole) : whole;
    const written = (redact?.value(kept) ?? kept) as Record<string, unknown>;
    return this.#failing(() => {
      if (this.#unsure) this.#reopen();
      if (maxBytes !== undefined && this.#size >= maxBytes) this.#rotate();
      this.#write({ type: "record", record: written });
      return this.head;
    });
  }

  flush(): void {
    if (this.#fd !== undefined) this.#failing(() => fsyncSync(this.#fd as number));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#closeFile();
    this.#unlock();
  }

  #closeFile(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) closeSync(fd);
  }

  #open(): void {
    const { key } = this.#options;
    const earlier = rotatedFiles(this.path);
    const lastEarlier = earlier.at(-1);
    this.#file = (lastEarlier ?? 0) + 1;
    const tail = existsSync(this.path) ? readTail(this.path, key) : undefined;
    const { O_APPEND, O_CREAT, O_WRONLY } = constants;
    const fd = openSync(this.path, O_APPEND | O_CREAT | O_WRONLY, MODE);
    this.#fd = fd;
    const { size, mode } = fstatSync(fd);
    this.#size = size;
    if ((mode & 0o777) !== MODE) fchmodSync(fd, MODE);
    if (tail !== undefined) {
      this.#continue(tail);
      return;
    }
    const before = lastEarlier === undefined ? undefined : readTail(rotatedPath(this.path, lastEarlier), key);
    if (before !== undefined) this.#head = { seq: before.last.seq, hash: before.last.hash };
    this.#start(size);
  }

  /** Writes the first line of a file. `torn`: size of an incomplete first line that the file already contains. */
  #start(torn: number): void {
    const { mode = "full", key } = this.#options;
    const line = { type: "start", version: 1, file: this.#file, mode, keyed: key !== undefined } as const;
    if (torn === 0) {
      this.#write(line);
      return;
    }
    const bytes = readFileSync(this.path);
    if (torn > LONGEST_TORN_START || !bytes.toString("latin1").startsWith('{"seq":'.slice(0, torn))) {
      throw new AuditLogError(`The file ${this.path} is not an audit log.`, { path: this.path });
    }
    const ended = bytes.at(-1) === 0x0a;
    if (!ended) this.#put("\n");
    this.#write({ ...line, torn: tornOf(ended ? bytes.subarray(0, -1) : bytes) });
  }

  #continue({ last, torn, ended }: Tail): void {
    this.#head = { seq: last.seq, hash: last.hash };
    if (!ended) this.#put("\n");
    if (torn.length === 0) return;
    this.#write({ type: "resume", torn: tornOf(torn) });
  }

  #reopen(): void {
    this.#closeFile();
    this.#open();
    this.#unsure = false;
  }

  /** Starts a new file. Its first line contains the last hash of the current file. */
  #rotate(): void {
    this.flush();
    this.#closeFile();
    renameSync(this.path, rotatedPath(this.path, this.#file));
    this.#file += 1;
    const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = constants;
    this.#fd = openSync(this.path, O_APPEND | O_CREAT | O_EXCL | O_WRONLY, MODE);
    this.#size = 0;
    this.#start(0);
  }

  #write(body: LineBody): void {
    const { seq, hash: prev } = this.#head;
    const { text, hash } = writeLine(body, { seq: seq + 1, prev }, this.#options.key);
    this.#put(`${text}\n`);
    this.#head = { seq: seq + 1, hash };
    if (this.#options.sync === "each") fsyncSync(this.#fd as number);
  }

  #put(text: string): void {
    const bytes = Buffer.from(text);
    this.#unsure = true;
    let written = 0;
    while (written < bytes.length) written += writeSync(this.#fd as number, bytes, written);
    this.#size += bytes.length;
    this.#unsure = false;
  }

  #failing<T>(action: () => T): T {
    try {
      return action();
    } catch (cause) {
      if (cause instanceof AuditLogError) throw cause;
      this.#unsure = true;
      throw new AuditLogError(`The audit log ${this.path} could not be written: ${messageOf(cause)}.`, {
        path: this.path,
        cause,
      });
    }
  }
}
