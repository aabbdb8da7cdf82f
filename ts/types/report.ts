import type { Miss } from "./miss.js";

/** Statistics of the calls of a frame. */
export interface FrameReport {
  readonly callId: string;
  readonly agentId: string;
  /** "own": the frame continued its recorded one. "lent": it used a recorded frame with other props. */
  readonly recording: "own" | "lent" | "none";
  /** Calls answered from the recording, with those that were recorded inside them. */
  replayed: number;
  /** Live calls. */
  live: number;
  /** Calls without a recorded entry. */
  missed: number;
  /** Replayed ends that happened before a start or end that precedes them in the recording. */
  overtaken: number;
  /** True if the recorded result was returned without running the handler. */
  reused: boolean;
  /** The first call without a recorded entry. */
  firstDivergence?: Miss;
  /** Numbers of recorded calls and frames that were not requested. */
  unused?: { calls: number; frames: number };
}

/** A recorded answer that may belong to another request. */
export interface InexactAnswer {
  readonly callId: string;
  /** JSON pointer and kind of the content that the hash does not cover, such as "/query: instance of Query". */
  readonly reason: string;
}

/** A recorded answer that was not given, because a replay flag of the recording forbids it. */
export interface WithheldAnswer {
  readonly callId: string;
  /** Number of the replay flag. */
  readonly flag: number;
  /** The place in the request that is the reason, such as "/query: instance of Query". */
  readonly reason: string;
}

/** A call that had started and not ended when the recording was taken. It may have taken effect. */
export interface InFlightCall {
  readonly kind: string;
  /** Path of the call in the recording. */
  readonly callId: string;
  readonly contentHash: string;
  /** The id that the function of the call received, and receives again if a resumed run executes it. */
  readonly idempotencyKey: string;
}

/** Requests of one kind from one place that no wrapper recorded. */
export interface UnrecordedRequest {
  /** Of HTTP, such as "POST". "TCP" for another connection, such as one to a database. The method of MCP over stdio. */
  readonly method: string;
  /** With the port, if it is not the default one. For MCP over stdio the command. */
  readonly host: string;
  /** Without the query. */
  readonly path: string;
  /** The function of the program that sent it, with file and line. */
  readonly callSite: string;
  count: number;
}

/** A replayed failure that lacks something that the recorded one had. */
export interface IncompleteError {
  readonly callId: string;
  /** Name of the recorded class. */
  readonly name: string;
  /** The missing parts: the class, because no option `errors` names it, or parts that could not be recorded. */
  readonly lost: readonly string[];
}

/** Statistics of the calls of a run. The numbers count as in {@link FrameReport}. */
export interface ReplayReport {
  readonly mode: "live" | "resume" | "replay";
  replayed: number;
  live: number;
  missed: number;
  overtaken: number;
  /** Recorded failures that were replayed. `failures: "retry"` executes their calls again instead. */
  replayedFailures: number;
  /**
   * CallIds of the failed calls that were executed again because nothing in the recording shows if the program had handled
   * the failure. `failures: "replay"` replays them.
   */
  unprovenFailures: string[];
  /** CallId of the replayed failure that the run ended with. */
  endedByReplayed?: string;
  /** The frames, in the order of their starts; empty if the run had no recording. */
  frames: FrameReport[];
  /**
   * Calls that were answered although their request has content that its hash does not cover. Only recordings without
   * the replay flag 1 answer such calls.
   */
  inexact: InexactAnswer[];
  /** Calls that were not answered, although the recording has an entry with the same hash. */
  withheld: WithheldAnswer[];
  /** Calls that the recording of a resumed run does not contain the end of. They are executed again. */
  inFlight: InFlightCall[];
  /** Replayed failures that lack something that the recorded ones had. */
  incompleteErrors: IncompleteError[];
  /**
   * Requests to the network that were not recorded, sent or refused. Only for runs whose option `network` is not
   * "allow"; at most 100 entries.
   */
  unrecorded: UnrecordedRequest[];
  /** Time and tokens that the replayed calls used when they were recorded. */
  saved: { milliseconds: number; promptTokens: number; completionTokens: number; totalTokens: number };
}
