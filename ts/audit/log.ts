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
import type { Redactor } from "../redact/redactor.js";
import { encodeMarked } from "../values/encode.js";
import { rotatedFiles, rotatedPath } from "./files.js";
import { hashesOf } from "./hash-only.js";
import { NO_LINE, tornOf, writeLine, type LineBody } from "./line.js";
import { lock } from "./lock.js";
import { readTail, type Tail } from "./tail.js";

export interface AuditLogOptions {
  /** "hashes" writes no content, only hashes, counts, time and names. Default "full". */
  mode?: "full" | "hashes";
  /**
   * Makes the hashes (HMAC-SHA256): who does not have it can change no line, not even the last ones, without being found
   * out. Keep it elsewhere.
   */
  key?: string;
  /** A file that is longer is put aside as `name.1.jsonl`, and a new one is begun. In bytes; by default never. */
  maxBytes?: number;
  /** "each" syncs every line to disk before `append` returns. Default "off". */
  sync?: "off" | "each";
  /** Keeps secrets out of what is written; hashes that the record carries stay those of what was sent. */
  redact?: Redactor;
}

/** A line of the log, to be kept elsewhere: `verifyLog` then finds out whether what came before it was changed. */
export interface AuditHead {
  /** Number of the line in the log, from 0. */
  seq: number;
  /** 64 hex digits. */
  hash: string;
}

/** An audit log that is open for writing. Its functions need no `this`. */
export interface AuditLog extends Disposable {
  readonly path: string;
  /** The line that was written last. */
  readonly head: AuditHead;
  /**
   * Writes a record: a JSON object. What is no JSON in it is written as a text in its place.
   * @throws AuditLogError when it could not be written; the log is as it was before.
   */
  readonly append: (record: object) => AuditHead;
  /** Makes what was written survive a crash of the machine. */
  readonly flush: () => void;
  readonly close: () => void;
}

const MODE = 0o600;
const LEAST_BYTES = 1_024;
/** Of some starts that were killed, one after the other. */
const LONGEST_TORN_START = 4_096;

/**
 * Opens an audit log to append to, and makes it, and its folder, where there is none: JSONL, readable by its owner only.
 * What a killed process left unfinished stays in the file, and is told of by the next line.
 *
 * A log has one writer at a time. `{pid}` in the path stands for the number of the process: one log each.
 *
 * @throws AuditLogError if another writer has it (`ERR_REWIND_AUDIT_LOCKED`), if its last line was changed or was made
 * with another key (`ERR_REWIND_AUDIT_BROKEN`), or if the file system fails.
 * @throws TypeError, RangeError for wrong options.
 */
export function openAuditLog(path: string, options: AuditLogOptions = {}): AuditLog {
  checkOptions(path, options);
  const writer = new Writer(path.replaceAll("{pid}", String(process.pid)), options);
  const close = (): void => writer.close();
  return {
    path: writer.path,
    get head() {
      return writer.head;
    },
    append: (record) => writer.append(record),
    flush: () => writer.flush(),
    close,
    [Symbol.dispose ?? Symbol.for("Symbol.dispose")]: close,
  };
}

function checkOptions(path: string, { mode, key, maxBytes, sync, redact }: AuditLogOptions): void {
  const one = (name: string, value: unknown, choices: readonly string[]): void => {
    if (value !== undefined && !choices.includes(value as string))
      throw new TypeError(
        `openAuditLog: options.${name} must be ${choices.map((choice) => `"${choice}"`).join(" or ")}, received ${JSON.stringify(value)}`,
      );
  };
  if (typeof path !== "string" || path === "") throw new TypeError("openAuditLog: path must be a string");
  one("mode", mode, ["full", "hashes"]);
  one("sync", sync, ["off", "each"]);
  if (key !== undefined && (typeof key !== "string" || key === ""))
    throw new TypeError("openAuditLog: options.key must be a string that is not empty");
  if (redact !== undefined && typeof (redact as Partial<Redactor> | null)?.value !== "function")
    throw new TypeError("openAuditLog: options.redact must be a redactor, such as createRedactor() gives");
  if (maxBytes !== undefined && !(Number.isInteger(maxBytes) && maxBytes >= LEAST_BYTES))
    throw new RangeError(`openAuditLog: options.maxBytes must be a whole number from ${LEAST_BYTES}`);
}

class Writer {
  readonly path: string;
  readonly #options: AuditLogOptions;
  readonly #unlock: () => void;
  #fd: number | undefined;
  #size = 0;
  #file = 1;
  #head: AuditHead = { seq: -1, hash: NO_LINE };
  /** A line was written in part, and nothing is known of the end of the file. */
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
      this.#goOn(tail);
      return;
    }
    const before = lastEarlier === undefined ? undefined : readTail(rotatedPath(this.path, lastEarlier), key);
    if (before !== undefined) this.#head = { seq: before.last.seq, hash: before.last.hash };
    this.#start(size);
  }

  /** Begins a file; `torn` bytes of a first line that was cut off stand in it already. */
  #start(torn: number): void {
    const { mode = "full", key } = this.#options;
    const line = { type: "start", version: 1, file: this.#file, mode, keyed: key !== undefined } as const;
    if (torn === 0) {
      this.#write(line);
      return;
    }
    const bytes = readFileSync(this.path);
    if (torn > LONGEST_TORN_START || !bytes.toString("latin1").startsWith('{"seq":'.slice(0, torn))) {
      throw new AuditLogError(`The file ${this.path} holds something else than an audit log.`, { path: this.path });
    }
    const ended = bytes.at(-1) === 0x0a;
    if (!ended) this.#put("\n");
    this.#write({ ...line, torn: tornOf(ended ? bytes.subarray(0, -1) : bytes) });
  }

  #goOn({ last, torn, ended }: Tail): void {
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

  /** The next file begins with the last hash of this one. */
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
