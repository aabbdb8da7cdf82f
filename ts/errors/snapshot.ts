import { named, RewindError, type CauseOptions, type ErrorGuard } from "./base.js";
import type { MissExplanation, MissReason } from "../types/miss.js";

/** The function that needs snapshots: `dumpSnapshot`, or `runWith` with a snapshot. */
export type SnapshotDisabledSource = "dump" | "runWith";

const DISABLED: Record<SnapshotDisabledSource, string> = {
  dump:
    "dumpSnapshot() needs a run with snapshots enabled. They are disabled by `enableSnapshot: false`, and by default " +
    'if NODE_ENV is "production". Pass runWith(fn, { enableSnapshot: true }), or collect the trace events and ' +
    "call restoreSnapshot(events).",
  runWith:
    'runWith() got a snapshot, but snapshots are disabled by default if NODE_ENV is "production". ' +
    "To replay the snapshot, pass runWith(fn, { snapshot, enableSnapshot: true }).",
};

/** A snapshot was requested or passed in a run with snapshots disabled. */
export class SnapshotDisabledError extends RewindError {
  readonly source: SnapshotDisabledSource;

  constructor({ source }: { source: SnapshotDisabledSource }) {
    super(DISABLED[source], "ERR_REWIND_SNAPSHOT_DISABLED");
    this.source = source;
  }
}

export const isSnapshotDisabledError: ErrorGuard<SnapshotDisabledError> = named(
  SnapshotDisabledError,
  "SnapshotDisabledError",
);

/** A snapshot cannot be restored from a trace. */
export class RestoreError extends RewindError {
  /** The requested span. */
  readonly spanId: string | undefined;
  /** Place in the trace, such as `events.3`. */
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

export const isRestoreError: ErrorGuard<RestoreError> = named(RestoreError, "RestoreError");

/** A fault in a snapshot. */
export interface Fault {
  /** Dotted path, such as `root.children.x.state.status`; "" is the snapshot itself. */
  path: string;
  message: string;
}

/** A value is not a valid snapshot. Lists all faults. */
export class InvalidSnapshotError extends RewindError {
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

export const isInvalidSnapshotError: ErrorGuard<InvalidSnapshotError> = named(
  InvalidSnapshotError,
  "InvalidSnapshotError",
);

/** Requests cannot be normalized: a rule threw, or a snapshot was recorded under other rules. */
export class NormalizeError extends RewindError {
  constructor(message: string, options: CauseOptions = {}) {
    super(message, "ERR_REWIND_NORMALIZE", options);
  }
}

export const isNormalizeError: ErrorGuard<NormalizeError> = named(NormalizeError, "NormalizeError");

/** A value is nested too deeply, or is too large. */
export class LimitError extends RewindError {
  /** Place in the data. */
  readonly path: string | undefined;
  readonly limit: number | undefined;

  constructor(message: string, { path, limit, ...options }: CauseOptions & { path?: string; limit?: number } = {}) {
    super(message, "ERR_REWIND_LIMIT", options);
    this.path = path;
    this.limit = limit;
  }
}

export const isLimitError: ErrorGuard<LimitError> = named(LimitError, "LimitError");

/** A call that the recording does not answer, and that may not be live. */
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
  /** Number of the replay flag because of which a recorded entry does not answer. */
  flag?: number | undefined;
  /** The differences from the most similar recorded request; absent if requests were not recorded. */
  explanation?: MissExplanation | undefined;
}

const REASONS: Readonly<Record<MissReason, string>> = {
  "no-recording": "its frame was not recorded",
  "not-recorded": "no unused recorded request in this frame matches",
  "in-flight": "its answer was not received, or not read, to its end in the recorded run",
  tombstone: "its result could not be recorded",
  retry: "it failed in the recorded run, and this failure is retried instead of replayed",
  inexact: "it depends on content that its hash does not cover",
};

const ADVICE = 'Record the run again, or use mode "resume" to allow live calls.';
const INEXACT_ADVICE =
  "Pass plain data instead, or exclude this part from the hash with options.normalize, and record the run again.";

/** A replay reached a call that its recording does not answer. */
export class ReplayMissError extends RewindError {
  readonly kind: string;
  /** Name of the model or tool. `name` is the name of the error. */
  readonly calledName: string;
  readonly callId: string;
  readonly contentHash: string;
  readonly reason: MissReason;
  /** With the reason "inexact": JSON pointer and kind of the content that the hash does not cover. */
  readonly inexact: string | undefined;
  /** Number of the replay flag because of which a recorded entry does not answer. */
  readonly flag: number | undefined;
  readonly explanation: MissExplanation | undefined;

  constructor({ kind, name, callId, contentHash, reason, inexact, flag, explanation }: MissedCall) {
    super(
      `The recording has no answer for the ${kind} call "${name}" (${callId}, contentHash ${contentHash}): ` +
        `${REASONS[reason]}${inexact === undefined ? "" : ` (${inexact})`}. ` +
        (explanation === undefined ? "" : `${explanation.text} `) +
        (reason === "inexact" ? INEXACT_ADVICE : ADVICE) +
        (flag === undefined ? "" : ` Replay flag ${flag} of the recording forbids an answer.`),
      "ERR_REWIND_REPLAY_MISS",
    );
    this.kind = kind;
    this.calledName = name;
    this.callId = callId;
    this.contentHash = contentHash;
    this.reason = reason;
    this.inexact = inexact;
    this.flag = flag;
    this.explanation = explanation;
  }
}

/** A replayed stream is read further than its consumer read it in the recorded run, and cannot be continued. */
export class StreamCutError extends RewindError {
  constructor(call: string, reason = "") {
    super(
      `The recorded answer to ${call} ends here. Its consumer stopped reading early in the recorded run, but reads ` +
        `further now. ${reason === "" ? "" : `${reason} `}Record the run again, or drop this call with forkSnapshot.`,
      "ERR_REWIND_STREAM_CUT",
    );
  }
}

export const isStreamCutError: ErrorGuard<StreamCutError> = named(StreamCutError, "StreamCutError");

export const isReplayMissError: ErrorGuard<ReplayMissError> = named(ReplayMissError, "ReplayMissError");

/** A request that no wrapper recorded. */
export interface UnrecordedCall {
  /** Such as "POST". */
  readonly method: string;
  /** With the port, if it is not the default one. */
  readonly host: string;
  /** Without the query, which may contain secrets. */
  readonly path: string;
  /** The function of the program that sent it, with file and line; "unknown" if its stack does not show that. */
  readonly callSite: string;
}

/** A request would have reached the network, although its answer is not recorded. It was refused. */
export class UnrecordedRequestError extends RewindError {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly callSite: string;

  /** @param remedy what to do about it. */
  constructor({ method, host, path, callSite }: UnrecordedCall, remedy: string) {
    super(
      `${method} ${host}${path} (sent by ${callSite}) was refused: no wrapper recorded it, so a replay has no answer for ` +
        `it. ${remedy}`,
      "ERR_REWIND_UNRECORDED_REQUEST",
    );
    this.method = method;
    this.host = host;
    this.path = path;
    this.callSite = callSite;
  }
}

export const isUnrecordedRequestError: ErrorGuard<UnrecordedRequestError> = named(
  UnrecordedRequestError,
  "UnrecordedRequestError",
);
