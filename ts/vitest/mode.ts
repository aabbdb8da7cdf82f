/** What is done with recordings. */
export type RecordingMode =
  /** A recording that is missing is made; one that is there is replayed, and nothing is made. vitest's default. */
  | "once"
  /** Replayed, and nothing is made. vitest's default under CI. */
  | "replay"
  /** All calls are made, and recorded anew. With `vitest -u`. */
  | "record"
  /** What is recorded is replayed, what is missing is made and recorded. */
  | "auto"
  /** All calls are made, and nothing is recorded. */
  | "live";

const FORCED = ["replay", "record", "auto", "live", "once"] as const;

/** What vitest does with snapshots: `all` for -u, `none` under CI. */
export type SnapshotUpdate = "all" | "new" | "none";

/** @throws TypeError if AGENT_REWIND_MODE is no mode. */
export function recordingMode(
  update: SnapshotUpdate,
  forced: string | undefined = process.env["AGENT_REWIND_MODE"],
): RecordingMode {
  if (forced !== undefined && forced !== "") {
    const mode = FORCED.find((name) => name === forced);
    if (mode === undefined) {
      throw new TypeError(`AGENT_REWIND_MODE must be one of ${FORCED.join(", ")}, is ${JSON.stringify(forced)}`);
    }
    return mode;
  }
  return update === "all" ? "record" : update === "none" ? "replay" : "once";
}
