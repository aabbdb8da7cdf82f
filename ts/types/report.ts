import type { Miss } from "./miss.js";

/** What became of the calls of a frame. */
export interface FrameReport {
  readonly callId: string;
  readonly agentId: string;
  /** "own": the frame continued a recorded one; "lent": it was answered from one with other props; "none". */
  readonly recording: "own" | "lent" | "none";
  /** Calls answered from the recording. */
  replayed: number;
  /** Calls that were made. */
  live: number;
  /** Calls that the recording had no entry for. */
  missed: number;
  /** Replayed ends that came before an earlier recorded start or end. */
  overtaken: number;
  /** The recorded result was taken, and the handler not run. */
  reused: boolean;
  /** The first call that the recording had no entry for. */
  firstDivergence?: Miss;
  /** What was recorded and not asked for. */
  unused?: { calls: number; frames: number };
}

/** A recorded answer that may belong to another request. */
export interface InexactAnswer {
  readonly callId: string;
  /** JSON pointer and kind of the content that the hash of the request does not cover, such as "/query: instance of Query". */
  readonly reason: string;
}

/** What became of the calls of a run. */
export interface ReplayReport {
  readonly mode: "live" | "resume" | "replay";
  replayed: number;
  live: number;
  missed: number;
  overtaken: number;
  /** The frames of a run that replayed, in order of their starts. */
  frames: FrameReport[];
  /**
   * Calls that were answered although their request has content that its hash does not cover. Only recordings without
   * the replay flag 1 answer such calls.
   */
  inexact: InexactAnswer[];
  /** What the replayed calls had cost when they were made. */
  saved: { milliseconds: number; promptTokens: number; completionTokens: number; totalTokens: number };
}
