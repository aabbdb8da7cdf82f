import { checkObject } from "../errors/received.js";
import type { Redactor } from "../redact/redactor.js";

export interface AuditLogOptions {
  /** "hashes" writes only hashes, counts, time and names, no content. @default "full" */
  mode?: "full" | "hashes";
  /**
   * Key for the hashes (HMAC-SHA256). Without the key, nobody can change a line unnoticed, not even the last one. Store
   * it in a different place than the log.
   */
  key?: string;
  /** Size in bytes from which a file is renamed to `name.1.jsonl` and a new one starts. Default: no limit. */
  maxBytes?: number;
  /** "each" syncs every line to disk before `append` returns. @default "off" */
  sync?: "off" | "each";
  /** Removes secrets before writing. Hashes in the record remain those of the original content. */
  redact?: Redactor;
}

const LEAST_BYTES = 1_024;

/** @throws TypeError, RangeError */
export function checkOptions(path: string, options: AuditLogOptions): void {
  checkObject("openAuditLog: options", options);
  const { mode, key, maxBytes, sync, redact } = options;
  const one = (name: string, value: unknown, choices: readonly string[]): void => {
    if (value !== undefined && !choices.includes(value as string))
      throw new TypeError(
        `openAuditLog: options.${name} must be ${choices.map((choice) => `"${choice}"`).join(" or ")}, received ${JSON.stringify(value)}`,
      );
  };
  if (typeof path !== "string" || path === "") throw new TypeError("openAuditLog: path must be a non-empty string");
  one("mode", mode, ["full", "hashes"]);
  one("sync", sync, ["off", "each"]);
  if (key !== undefined && (typeof key !== "string" || key === ""))
    throw new TypeError("openAuditLog: options.key must be a non-empty string");
  if (redact !== undefined && typeof (redact as Partial<Redactor> | null)?.value !== "function")
    throw new TypeError("openAuditLog: options.redact must be a redactor, as returned by createRedactor()");
  if (maxBytes !== undefined && !(Number.isInteger(maxBytes) && maxBytes >= LEAST_BYTES))
    throw new RangeError(`openAuditLog: options.maxBytes must be an integer of at least ${LEAST_BYTES}`);
}
