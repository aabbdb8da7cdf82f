import { type CauseOptions, hasName, named, RewindError } from "./base.js";
import type { MissExplanation, MissReason } from "../types/miss.js";

/** What was asked for while snapshots are disabled. */
export type SnapshotDisabledSource = "dump" | "runWith";

const DISABLED: Record<SnapshotDisabledSource, string> = {
  dump:
    "dumpSnapshot() needs a run with snapshots enabled. They are disabled by `enableSnapshot: false`, and by default " +
    'where NODE_ENV is "production". Pass runWith(fn, { enableSnapshot: true }), or collect the trace events and ' +
    "use restoreSnapshot(events).",
  runWith:
    'runWith got a snapshot, but snapshots are disabled by default where NODE_ENV is "production". ' +
    "Pass runWith(fn, { snapshot, enableSnapshot: true }) if the run should replay.",
};

/** A snapshot was asked for, or given, where snapshots are disabled. */
export class SnapshotDisabledError extends RewindError {
  static {
    named(this, "SnapshotDisabledError");
  }

  readonly source: SnapshotDisabledSource;

  constructor({ source }: { source: SnapshotDisabledSource }) {
    super(DISABLED[source], "ERR_REWIND_SNAPSHOT_DISABLED");
    this.source = source;
  }
}

export function isSnapshotDisabledError(value: unknown): value is SnapshotDisabledError {
  return hasName(value, "SnapshotDisabledError");
}

/** A snapshot cannot be restored from a trace. */
export class RestoreError extends RewindError {
  static {
    named(this, "RestoreError");
  }

  /** The span that was asked for. */
  readonly spanId: string | undefined;
  /** Place in the trace, such as a file or a line. */
  readonly path: string | undefined;

  constructor(
    message: string,
    {
      code = "ERR_REWIND_RESTORE",
      spanId,
      path,
      ...options
    }: CauseOptions & { code?: string; spanId?: string; path?: string } = {},
  ) {
    super(message, code, options);
    this.spanId = spanId;
    this.path = path;
  }
}

export function isRestoreError(value: unknown): value is RestoreError {
  return hasName(value, "RestoreError");
}

/** Something wrong in a snapshot. */
export interface Fault {
  /** Dotted path, such as `root.children.x.state.status`; "" is the snapshot itself. */
  path: string;
  message: string;
}

/** A snapshot from outside is not one. Lists all faults. */
export class InvalidSnapshotError extends RewindError {
  static {
    named(this, "InvalidSnapshotError");
  }

  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[], options: CauseOptions = {}) {
    const list = faults.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join(", ");
    super(
      `Invalid Snapshot format: ${list.replaceAll(/\s*[\n\r\u2028\u2029]+\s*/g, " ")}`,
      "ERR_REWIND_INVALID_SNAPSHOT",
      options,
    );
    this.faults = faults;
  }
}

export function isInvalidSnapshotError(value: unknown): value is InvalidSnapshotError {
  return hasName(value, "InvalidSnapshotError");
}

/** Requests cannot be normalized: a rule threw, or a snapshot was recorded under other rules. */
export class NormalizeError extends RewindError {
  static {
    named(this, "NormalizeError");
  }

  constructor(message: string, options: CauseOptions = {}) {
    super(message, "ERR_REWIND_NORMALIZE", options);
  }
}

export function isNormalizeError(value: unknown): value is NormalizeError {
  return hasName(value, "NormalizeError");
}

/** Something is too deep or too large to be represented. */
export class LimitError extends RewindError {
  static {
    named(this, "LimitError");
  }

  /** Place in the data. */
  readonly path: string | undefined;
  readonly limit: number | undefined;

  constructor(message: string, { path, limit, ...options }: CauseOptions & { path?: string; limit?: number } = {}) {
    super(message, "ERR_REWIND_LIMIT", options);
    this.path = path;
    this.limit = limit;
  }
}

export function isLimitError(value: unknown): value is LimitError {
  return hasName(value, "LimitError");
}

/** A call that was not allowed to be made, and why the recording does not answer it. */
export interface MissedCall {
  /** "prompt", "tool" or a kind of the program's own. */
  kind: string;
  /** Name of the model or tool. */
  name: string;
  callId: string;
  contentHash: string;
  reason: MissReason;
  /** With the reason "inexact": JSON pointer and kind of the content that the hash does not cover. */
  inexact?: string | undefined;
  /** Where the request differs from the nearest one that was recorded; absent where requests were not kept. */
  explanation?: MissExplanation | undefined;
}

const REASONS: Readonly<Record<MissReason, string>> = {
  "no-recording": "its frame was not recorded",
  "not-recorded": "no recorded request of the frame is equal to it, or all that are were used up",
  "in-flight": "it had started but not ended when the snapshot was taken",
  tombstone: "its recorded result could not be kept",
  retry: "it failed when it was recorded, and is to be tried again",
  inexact: "the request has content that its hash does not cover",
};

const ADVICE = 'Record it anew, or run with mode "resume" to let the call be made.';
const INEXACT_ADVICE =
  "Pass plain data instead, or exclude this part from the hash with options.normalize, and record the run again.";

/** A replay was asked something that its recording does not answer. */
export class ReplayMissError extends RewindError {
  static {
    named(this, "ReplayMissError");
  }

  readonly kind: string;
  /** Name of the model or tool. `name` is that of the error. */
  readonly calledName: string;
  readonly callId: string;
  readonly contentHash: string;
  readonly reason: MissReason;
  readonly explanation: MissExplanation | undefined;

  constructor({ kind, name, callId, contentHash, reason, inexact, explanation }: MissedCall) {
    super(
      `The recording has no answer for the ${kind} call "${name}" (${callId}, contentHash ${contentHash}): ` +
        `${REASONS[reason]}${inexact === undefined ? "" : ` (${inexact})`}. ` +
        (explanation === undefined ? "" : `${explanation.text} `) +
        (reason === "inexact" ? INEXACT_ADVICE : ADVICE),
      "ERR_REWIND_REPLAY_MISS",
    );
    this.kind = kind;
    this.calledName = name;
    this.callId = callId;
    this.contentHash = contentHash;
    this.reason = reason;
    this.explanation = explanation;
  }
}

/** A stream is read on where its consumer had left it when it was recorded. */
export class StreamCutError extends RewindError {
  static {
    named(this, "StreamCutError");
  }

  constructor(call: string) {
    super(
      `The recorded answer to ${call} ends here: its consumer left it early when it was recorded, and now reads on. ` +
        "Record it anew.",
      "ERR_REWIND_STREAM_CUT",
    );
  }
}

export function isStreamCutError(value: unknown): value is StreamCutError {
  return hasName(value, "StreamCutError");
}

export function isReplayMissError(value: unknown): value is ReplayMissError {
  return hasName(value, "ReplayMissError");
}
