import { dispose } from "../values/dispose.js";
import type { AuditHead } from "./line.js";
import { checkOptions, type AuditLogOptions } from "./options.js";
import { Writer } from "./writer.js";

/** An audit log that is open for writing. Its functions need no `this`. */
export interface AuditLog extends Disposable {
  readonly path: string;
  /** The last line that was written. */
  readonly head: AuditHead;
  /**
   * Writes a record: a JSON object. Values that JSON cannot represent are written as text.
   * @throws AuditLogError if it cannot be written. The log is then unchanged.
   */
  readonly append: (record: object) => AuditHead;
  /** Syncs the log to disk, so that it survives a crash of the machine. */
  readonly flush: () => void;
  readonly close: () => void;
}

/**
 * Opens an audit log for appending. Creates the file and its folder if necessary. The file is JSONL and readable by its
 * owner only. An incomplete line of a killed process stays in the file; the next line records its size and hash.
 *
 * A log has one writer at a time. Use `{pid}` in the path to give each process its own log.
 *
 * @throws AuditLogError if another process writes the log (`ERR_REWIND_AUDIT_LOCKED`), if its last line was changed or
 * written with another key (`ERR_REWIND_AUDIT_BROKEN`), or if a file operation fails.
 * @throws TypeError, RangeError for invalid options.
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
    [dispose]: close,
  };
}
