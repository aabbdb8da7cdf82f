/** How a test uses its recording. */
export type RecordingMode =
  /** Replays the recording without live calls, or creates it if it is missing. The default. */
  | "once"
  /** Replays the recording without live calls. The default in CI. */
  | "replay"
  /**
   * Replays recorded calls, makes the other ones live, and removes entries that were not requested. The mode of
   * `vitest -u`.
   */
  | "update"
  /** Makes all calls live and replaces the recording. */
  | "record"
  /** Replays recorded calls; makes missing ones live and records them. */
  | "auto"
  /** Makes all calls live and records nothing. */
  | "live";

const MODES = ["replay", "update", "record", "auto", "live", "once"] as const;

/** The setting of vitest and Jest for snapshots: `all` with `-u`, `none` in CI. */
export type SnapshotUpdate = "all" | "new" | "none";

/** @throws TypeError if AGENT_REWIND_MODE or the option is not a mode. */
export function recordingMode(update: SnapshotUpdate, option: string | undefined): RecordingMode {
  const { AGENT_REWIND_MODE: forced = "" } = process.env;
  const wanted = forced === "" ? option : forced;
  if (wanted === undefined) return update === "all" ? "update" : update === "none" ? "replay" : "once";
  const mode = MODES.find((name) => name === wanted);
  if (mode !== undefined) return mode;
  const given = forced === "" ? "recording: options.mode" : "AGENT_REWIND_MODE";
  throw new TypeError(`${given} must be one of ${MODES.join(", ")}, received ${JSON.stringify(wanted)}`);
}

export function isCI(): boolean {
  return !["", "0", "false"].includes(process.env["CI"] ?? "");
}
