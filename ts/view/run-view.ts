import type { Exchange } from "../provider/exchange.js";
import { native } from "../native.js";
import { checkSnapshot } from "../snapshot/open.js";
import type { CallMarks, Marks } from "../snapshot/marks.js";
import type { AgentSnapshot, CallMeta } from "../types/snapshot.js";

export type CallStatus = "ok" | "failed" | "in flight" | "not kept";

interface Place {
  depth: number;
  /** True for the last row under its frame. */
  last: boolean;
  /** Position of the row of the frame around it; absent for the root. */
  parent?: number;
}

/** What calls and frames have in common. */
interface Timed {
  /** The callId of its outer call. */
  within?: string;
  /** Name and message of the error, or the reason why the output was not recorded. */
  reason?: string;
  /** The id of its span, in traces. */
  spanId?: string;
  /** Milliseconds from the start of the run, in traces. */
  startMs?: number;
  endMs?: number;
  startOrder?: number;
  endOrder?: number;
  /** The run replayed it from a recording. */
  replayed?: true;
}

export interface CallRow extends Place, Timed, CallMarks {
  row: "call";
  kind: string;
  /** Absent in recordings without lists of calls. */
  callId?: string;
  /** The callId without the path of its frame. May contain "/". */
  name?: string;
  contentHash: string;
  status: CallStatus;
  durationMs?: number;
  toolCallId?: string;
  /** The total of the call. */
  tokens?: number;
  promptTokens?: number;
  api?: string;
  endpoint?: string;
  model?: string;
  httpStatus?: number;
  finishReason?: string;
  /** Excerpts in one line. */
  question?: string;
  answer?: string;
  /** Why a replay does not answer it, or why it was live although the run had a recording. */
  why?: string;
}

export interface FrameRow extends Place, Timed, Marks {
  row: "frame";
  callId: string;
  /** The callId without the path of the frame around it. */
  name: string;
  agentId: string;
  status: string;
  /** Number of the last generation. */
  generation: number;
  calls: number;
  /** Used by the frame and all frames under it. */
  tokens: number;
  /** Used by the frame itself. */
  ownTokens: number;
  /** An excerpt. */
  props?: string;
}

export interface GenerationRow extends Place {
  row: "generation";
  id: number;
}

export type Row = CallRow | FrameRow | GenerationRow;

/** Everything of a call or frame. */
export interface Details {
  exchange?: Exchange;
  request?: unknown;
  /** True if the request is put together from events, which lack its options. */
  requestFromEvents?: true;
  output?: unknown;
  error?: unknown;
  meta?: CallMeta;
  /** The row whose conversation the call continues. */
  base?: number;
  props?: unknown;
  memoryAtStart?: Record<string, unknown>;
  memory?: Record<string, unknown>;
  budget?: unknown;
}

/** A run as people look at it: the rows of its tree, from the root down, and the details of each. */
export class RunView {
  readonly rows: readonly Row[];
  readonly #view: InstanceType<typeof native.RunView>;

  /**
   * @param trace the bytes of the trace that the snapshot was restored from: they have times, spans and prompts that a
   * snapshot lacks.
   * @throws InvalidSnapshotError
   */
  constructor(snapshot: AgentSnapshot, trace?: Buffer) {
    this.#view = new native.RunView(checkSnapshot(snapshot).handle, trace, snapshot.provenance.traceId);
    this.rows = JSON.parse(this.#view.rows()) as Row[];
  }

  details(row: number): Details {
    return JSON.parse(this.#view.details(row) ?? "{}") as Details;
  }
}
