import { AuditLogError } from "../errors/audit.js";
import { filesOf } from "./files.js";
import { NO_LINE, readLine, tornOf, type Line, type Torn } from "./line.js";
import { linesOf, type FileLine } from "./lines.js";
import type { AuditHead } from "./log.js";

/** What is wrong with a log, at the first line where something is. */
export interface AuditProblem {
  /**
   * - `"changed"`: the line is not what was written, or was made with another key.
   * - `"removed"`: one or more lines before it are missing; at the start of a log, whole files.
   * - `"reordered"`: it stands before or after its place, or twice.
   * - `"inserted"`: it does not follow from the line before.
   * - `"unreadable"`: it is no line of a log.
   * - `"truncated"`: the log ends before the head that was kept elsewhere.
   * - `"rewritten"`: the line in the place of the head that was kept elsewhere is another one.
   */
  kind: "changed" | "removed" | "reordered" | "inserted" | "unreadable" | "truncated" | "rewritten";
  file: string;
  /** Line of the file, from 1. */
  line: number;
  message: string;
}

export interface AuditReport {
  ok: boolean;
  problem?: AuditProblem;
  /** What a killed process left at the end of the log; the next writer goes on after it. */
  torn?: { file: string; line: number; bytes: number };
  /** The files that were read, in order. */
  files: string[];
  /** Lines that are right, up to the problem. */
  lines: number;
  /** Records among them. */
  records: number;
  /** The last line that is right. */
  head?: AuditHead;
  /** Whether hashes are made with a key. */
  keyed: boolean;
}

export interface VerifyLogOptions {
  /** The key that the log was written with. */
  key?: string;
  /** A head that was kept elsewhere: the log must hold that line, in that place. */
  head?: AuditHead;
  /** The log may begin later: earlier files were moved away. */
  partial?: boolean;
}

/** A line of a log that is right, and where it stands. */
export interface VerifiedLine {
  line: Line;
  file: string;
  number: number;
}

/**
 * Checks a log, over all its files: that no line was changed, removed, inserted or put elsewhere since it was written.
 *
 * Somebody who may write the file can still cut lines off its end, or rewrite it from any line to its end, hashes
 * included. Against the first helps a head that is kept elsewhere; against the second too, or a key.
 *
 * @param onLine is given each line that is right.
 * @throws AuditLogError if there is no log, it was written with a key and none is given, or it cannot be read.
 */
export async function verifyLog(
  path: string,
  options: VerifyLogOptions = {},
  onLine: (line: VerifiedLine) => void = () => {},
): Promise<AuditReport> {
  const chain = new Chain(path, options, onLine);
  const files: string[] = [];
  try {
    for await (const { file, handle, isLast } of filesOf(path)) {
      files.push(file);
      for await (const line of linesOf(file, handle)) if (!chain.take(file, line)) return chain.report(files);
      if (!chain.endFile(file, isLast())) return chain.report(files);
    }
  } catch (cause) {
    if (cause instanceof AuditLogError) throw cause;
    throw new AuditLogError(`The audit log ${path} could not be read: ${(cause as Error).message}.`, { path, cause });
  }
  const last = files.at(-1);
  if (last === undefined) throw new AuditLogError(`There is no audit log ${path}.`, { path });
  chain.end(last);
  return chain.report(files);
}

/** Follows the lines of a log. */
class Chain {
  readonly #path: string;
  readonly #options: VerifyLogOptions;
  readonly #onLine: (line: VerifiedLine) => void;
  #head: AuditHead | undefined;
  #lines = 0;
  #records = 0;
  #keyed = false;
  #headSeen = false;
  #problem: AuditProblem | undefined;
  /** Lines that are none, which a killed process may have left. */
  #torn: { bytes: Buffer[]; line: number } | undefined;
  #tornAtEnd: AuditReport["torn"];
  #last: { file: string; line: number } = { file: "", line: 0 };

  constructor(path: string, options: VerifyLogOptions, onLine: (line: VerifiedLine) => void) {
    this.#path = path;
    this.#options = options;
    this.#onLine = onLine;
  }

  /** Gives whether the log is right so far. */
  take(file: string, { bytes, number }: FileLine): boolean {
    const read = readLine(bytes, this.#options.key);
    if ("noLine" in read) {
      this.#torn ??= { bytes: [], line: number };
      this.#torn.bytes.push(bytes);
      return true;
    }
    const line = "line" in read ? read.line : read.changed;
    if (line.type === "start" && line.keyed && this.#options.key === undefined) {
      throw new AuditLogError(`The audit log ${this.#path} was written with a key: give it to check the log.`, {
        path: this.#path,
        code: "ERR_REWIND_AUDIT_KEY",
      });
    }
    if ("changed" in read) {
      return this.#fail("changed", file, number, "is not what was written, or was made with another key");
    }
    return this.#ownsTorn(file, number, line) && this.#follows(file, number, line) && this.#accept(file, number, line);
  }

  #follows(file: string, number: number, line: Line): boolean {
    const head = this.#head;
    if (head === undefined) {
      if (line.type !== "start")
        return this.#fail("removed", file, number, "is not the start of a file: what stood before it is missing");
      if (line.prev !== NO_LINE && this.#options.partial !== true)
        return this.#fail("removed", file, number, `is line ${line.seq} of the log: the files before it are missing`);
      return true;
    }
    if (line.prev === head.hash && line.seq === head.seq + 1) return true;
    const place = `is line ${line.seq} of the log, and follows line ${head.seq}`;
    if (line.seq <= head.seq) return this.#fail("reordered", file, number, place);
    if (line.seq === head.seq + 1)
      return this.#fail("inserted", file, number, `${place}, but was written after another one`);
    return this.#fail("removed", file, number, `${place}: those between are missing, or stand elsewhere`);
  }

  /** Bytes that are no line are right only if the next line tells of them. */
  #ownsTorn(file: string, number: number, line: Line): boolean {
    const torn = this.#torn;
    const told: Torn | undefined = line.type === "record" ? undefined : line.torn;
    if (torn === undefined) {
      if (told === undefined) return true;
      return this.#fail("removed", file, number, "tells of bytes of a killed process that are missing");
    }
    const found = tornOf(joined(torn.bytes));
    if (told?.bytes === found.bytes && told.sha256 === found.sha256) {
      this.#torn = undefined;
      return true;
    }
    return this.#fail("unreadable", file, torn.line, "is no line of a log");
  }

  #accept(file: string, number: number, line: Line): boolean {
    this.#head = { seq: line.seq, hash: line.hash };
    this.#last = { file, line: number };
    this.#lines += 1;
    if (line.type === "record") this.#records += 1;
    if (line.type === "start") this.#keyed = line.keyed;
    const kept = this.#options.head;
    if (kept?.seq === line.seq) {
      this.#headSeen = true;
      if (kept.hash !== line.hash)
        return this.#fail("rewritten", file, number, `is not the line ${kept.seq} whose hash was kept`);
    }
    this.#onLine({ line, file, number });
    return true;
  }

  /** Only the last file may end in bytes that are no line. */
  endFile(file: string, isLast: boolean): boolean {
    const torn = this.#torn;
    if (torn === undefined) return true;
    const bytes = joined(torn.bytes).length;
    if (!isLast || !looksTorn(torn.bytes)) return this.#fail("unreadable", file, torn.line, "is no line of a log");
    this.#tornAtEnd = { file, line: torn.line, bytes };
    return true;
  }

  end(file: string): void {
    const kept = this.#options.head;
    if (kept === undefined || this.#headSeen) return;
    const { line } = this.#last;
    this.#fail(
      "truncated",
      file,
      line,
      `is the last one, line ${this.#head?.seq ?? -1} of the log: line ${kept.seq}, whose hash was kept, is missing`,
    );
  }

  report(files: string[]): AuditReport {
    return {
      ok: this.#problem === undefined,
      ...(this.#problem === undefined ? {} : { problem: this.#problem }),
      ...(this.#tornAtEnd === undefined ? {} : { torn: this.#tornAtEnd }),
      files,
      lines: this.#lines,
      records: this.#records,
      ...(this.#head === undefined ? {} : { head: this.#head }),
      keyed: this.#keyed,
    };
  }

  #fail(kind: AuditProblem["kind"], file: string, line: number, what: string): false {
    this.#problem ??= { kind, file, line, message: `${file}:${line}: the line ${what}.` };
    return false;
  }
}

function joined(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Buffer.from("\n"), line])));
}

const BEGINNING = '{"seq":';

/** Whether a killed process may have left the lines: they begin as lines of a log do, and do not end so. */
function looksTorn(lines: readonly Buffer[]): boolean {
  return lines.every((line) => {
    const head = line.toString("latin1", 0, BEGINNING.length);
    const tail = line.toString("latin1", Math.max(0, line.length - 90));
    return head !== "" && BEGINNING.startsWith(head) && !/"hash":"[^"]*"\}\s*$/.test(tail);
  });
}
