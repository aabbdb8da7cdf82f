/** How a test uses its recording. */
export type RecordingMode =
  /** Replays the recording without live calls, or creates it if it is missing. vitest's default. */
  | "once"
  /** Replays the recording without live calls. vitest's default in CI. */
  | "replay"
  /** Makes all calls live and replaces the recording. The mode of `vitest -u`. */
  | "record"
  /** Replays recorded calls; makes missing ones live and records them. */
  | "auto"
  /** Makes all calls live and records nothing. */
  | "live";

const FORCED = ["replay", "record", "auto", "live", "once"] as const;

/** The setting of vitest for snapshots: `all` with `-u`, `none` in CI. */
export type SnapshotUpdate = "all" | "new" | "none";

/** @throws TypeError if AGENT_REWIND_MODE is not a mode. */
export function recordingMode(
  update: SnapshotUpdate,
  forced: string | undefined = process.env["AGENT_REWIND_MODE"],
): RecordingMode {
  if (forced !== undefined && forced !== "") {
    const mode = FORCED.find((name) => name === forced);
    if (mode === undefined) {
      throw new TypeError(`AGENT_REWIND_MODE must be one of ${FORCED.join(", ")}, received ${JSON.stringify(forced)}`);
    }
    return mode;
  }
  return update === "all" ? "record" : update === "none" ? "replay" : "once";
}
