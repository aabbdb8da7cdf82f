import { AuditLogError } from "../errors/audit.js";
import { wrongKind } from "../files/kind.js";
import { defined } from "../values/defined.js";
import { filesOf } from "./files.js";
import { NO_LINE, readLine, tornOf, type AuditHead, type Line, type Torn } from "./line.js";
import { linesOf, type FileLine } from "./lines.js";

/** The first problem in a log. */
export interface AuditProblem {
  /**
   * - `"changed"`: the line was changed after it was written, or was written with another key.
   * - `"removed"`: lines before it are missing; at the start of a log, whole files.
   * - `"reordered"`: the line is in the wrong position, or occurs twice.
   * - `"inserted"`: the line was written after a different line than the previous one.
   * - `"unreadable"`: it is not a line of a log.
   * - `"truncated"`: the log ends before the expected head.
   * - `"rewritten"`: the line at the position of the expected head has another hash.
   */
  kind: "changed" | "removed" | "reordered" | "inserted" | "unreadable" | "truncated" | "rewritten";
  file: string;
  /** Line number in the file, from 1. */
  line: number;
  message: string;
}

export interface AuditReport {
  ok: boolean;
  problem?: AuditProblem;
  /** An incomplete line of a killed process at the end of the log. This is not a problem: the next writer continues after it. */
  torn?: { file: string; line: number; bytes: number };
  /** The files that were read, in order. */
  files: string[];
  /** Number of valid lines before the problem. */
  lines: number;
  /** Number of records among these lines. */
  records: number;
  /** The last valid line. */
  head?: AuditHead;
  /** True if the hashes are computed with a key. */
  keyed: boolean;
}

export interface VerifyLogOptions {
  /** The key with which the log was written. */
  key?: string;
  /** A head that was stored elsewhere. The log must contain this line at this position. */
  head?: AuditHead;
  /** Accepts a log whose first files are missing, because they were moved away. */
  partial?: boolean;
}

/** A valid line of a log, and its position. */
export interface VerifiedLine {
  line: Line;
  file: string;
  number: number;
}

/**
 * Checks all files of a log: no line may have been changed, removed, inserted or moved since it was written.
 *
 * Somebody with write access can still cut lines off the end, or rewrite all lines from some point on including their
 * hashes. A head that is stored elsewhere detects both. A key prevents the second.
 *
 * @param onLine is called for each valid line.
 * @throws AuditLogError if the log does not exist, cannot be read, or needs a key that is not given.
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
  if (last === undefined) throw new AuditLogError(`The audit log ${path} does not exist.`, { path });
  chain.end(last);
  return chain.report(files);
}

/** The state of the check while it follows the hash chain. */
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
  /** Bytes that are not a line of a log. A killed process may have left them. */
  #torn: { bytes: Buffer[]; line: number } | undefined;
  #tornAtEnd: AuditReport["torn"];
  #last: { file: string; line: number } = { file: "", line: 0 };

  constructor(path: string, options: VerifyLogOptions, onLine: (line: VerifiedLine) => void) {
    this.#path = path;
    this.#options = options;
    this.#onLine = onLine;
  }

  /** Checks the next line. Returns false after a problem. */
  take(file: string, { bytes, number }: FileLine): boolean {
    const read = readLine(bytes, this.#options.key);
    if ("noLine" in read) {
      this.#torn ??= { bytes: [], line: number };
      this.#torn.bytes.push(bytes);
      return true;
    }
    const line = "line" in read ? read.line : read.changed;
    if (line.type === "start" && line.keyed && this.#options.key === undefined) {
      throw new AuditLogError(`The audit log ${this.#path} was written with a key. Pass the key to check the log.`, {
        path: this.#path,
        code: "ERR_REWIND_AUDIT_KEY",
      });
    }
    if ("changed" in read) {
      return this.#fail("changed", file, number, "was changed after it was written, or was written with another key");
    }
    return this.#ownsTorn(file, number, line) && this.#follows(file, number, line) && this.#accept(file, number, line);
  }

  #follows(file: string, number: number, line: Line): boolean {
    const head = this.#head;
    if (head === undefined) {
      if (line.type !== "start")
        return this.#fail("removed", file, number, "is not the start of a file: the lines before it are missing");
      if (line.prev !== NO_LINE && this.#options.partial !== true)
        return this.#fail("removed", file, number, `is line ${line.seq} of the log: the files before it are missing`);
      return true;
    }
    if (line.prev === head.hash && line.seq === head.seq + 1) return true;
    const place = `is line ${line.seq} of the log, but follows line ${head.seq}`;
    if (line.seq <= head.seq) return this.#fail("reordered", file, number, place);
    if (line.seq === head.seq + 1)
      return this.#fail(
        "inserted",
        file,
        number,
        `is line ${line.seq} of the log, but was written after a different line ${head.seq}`,
      );
    return this.#fail("removed", file, number, `${place}: the lines between them are missing or were moved`);
  }

  /** Bytes that are not a line are valid only if the next line records their size and hash. */
  #ownsTorn(file: string, number: number, line: Line): boolean {
    const torn = this.#torn;
    const recorded: Torn | undefined = line.type === "record" ? undefined : line.torn;
    if (torn === undefined) {
      if (recorded === undefined) return true;
      return this.#fail("removed", file, number, "records bytes of a killed process that are missing");
    }
    const found = tornOf(joined(torn.bytes));
    if (recorded?.bytes === found.bytes && recorded.sha256 === found.sha256) {
      this.#torn = undefined;
      return true;
    }
    return this.#failUnreadable(file, torn);
  }

  #failUnreadable(file: string, { bytes, line }: { bytes: Buffer[]; line: number }): false {
    const other = line === 1 ? wrongKind(bytes[0], "audit log") : undefined;
    return this.#fail(
      "unreadable",
      file,
      line,
      `is not a line of an audit log${other === undefined ? "" : `: ${other}`}`,
    );
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
        return this.#fail("rewritten", file, number, `has another hash than the expected head ${kept.seq}`);
    }
    this.#onLine({ line, file, number });
    return true;
  }

  /** Only the last file may end with an incomplete line. */
  endFile(file: string, isLast: boolean): boolean {
    const torn = this.#torn;
    if (torn === undefined) return true;
    const bytes = joined(torn.bytes).length;
    if (!isLast || !looksTorn(torn.bytes)) return this.#failUnreadable(file, torn);
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
      `is the last one (line ${this.#head?.seq ?? -1} of the log), so the expected head ${kept.seq} is missing`,
    );
  }

  report(files: string[]): AuditReport {
    return defined({
      ok: this.#problem === undefined,
      problem: this.#problem,
      torn: this.#tornAtEnd,
      files,
      lines: this.#lines,
      records: this.#records,
      head: this.#head,
      keyed: this.#keyed,
    });
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

/** True if a killed process may have left these lines: they start like lines of a log but are incomplete. */
function looksTorn(lines: readonly Buffer[]): boolean {
  return lines.every((line) => {
    const head = line.toString("latin1", 0, BEGINNING.length);
    const tail = line.toString("latin1", Math.max(0, line.length - 90));
    return head !== "" && BEGINNING.startsWith(head) && !/"hash":"[^"]*"\}\s*$/.test(tail);
  });
}
