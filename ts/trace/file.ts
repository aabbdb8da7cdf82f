import {
  closeSync,
  constants,
  fstatSync,
  fsync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

import { PRIVATE } from "../files/replace.js";

const NEWLINE = 0x0a;
/** Error codes of file systems and pipes that cannot sync. */
const CANNOT_SYNC = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EROFS"]);

export class AppendFile {
  readonly path: string;
  #fd: number | undefined;

  constructor(path: string) {
    this.path = path;
  }

  get isOpen(): boolean {
    return this.#fd !== undefined;
  }

  /**
   * Opens the file. Creates the file and its folder if necessary. Returns the text to write first: a newline if the last
   * line of the file is incomplete.
   */
  open(): string {
    mkdirSync(dirname(this.path), { recursive: true });
    const fd = openSync(this.path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, PRIVATE);
    this.#fd = fd;
    return endsInLine(fd) ? "\n" : "";
  }

  /** Writes as many bytes as possible. Returns their number. */
  write(bytes: Uint8Array): number {
    return this.#fd === undefined ? 0 : writeSync(this.#fd, bytes);
  }

  syncNow(): void {
    if (this.#fd === undefined) return;
    try {
      fsyncSync(this.#fd);
    } catch (error) {
      if (!cannotSync(error)) throw error;
    }
  }

  sync(): Promise<void> {
    const fd = this.#fd;
    if (fd === undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      fsync(fd, (error) => (error === null || cannotSync(error) ? resolve() : reject(error)));
    });
  }

  /** @throws Error if the path no longer leads to the open file. */
  checkPlace(): void {
    if (this.#fd === undefined) return;
    const open = fstatSync(this.#fd, { bigint: true });
    const there = statSync(this.path, { bigint: true, throwIfNoEntry: false });
    if (there?.ino === open.ino && there.dev === open.dev) return;
    const what = there === undefined ? "deleted or moved" : "replaced by another file";
    throw new Error(`the file was ${what} while the trace was written, so ${this.path} lacks events`);
  }

  close(): void {
    const fd = this.#fd;
    this.#fd = undefined;
    if (fd !== undefined) closeSync(fd);
  }
}

function endsInLine(fd: number): boolean {
  const { size } = fstatSync(fd);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  return readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE;
}

function cannotSync(error: unknown): boolean {
  return CANNOT_SYNC.has((error as NodeJS.ErrnoException).code ?? "");
}
