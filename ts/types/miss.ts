/** The reason why a recording has no answer for a call. */
export type MissReason =
  /** The frame has no recording. */
  | "no-recording"
  /** No unused entry of the frame matches the request. */
  | "not-recorded"
  /** The call had started but not ended. */
  | "in-flight"
  /** The result could not be recorded. */
  | "tombstone"
  /** The call failed, and the failure is retried instead of replayed. */
  | "retry"
  /** The request has content that its hash does not cover, so an equal hash does not mean an equal request. */
  | "inexact";

/** One difference between a request and a recorded one. */
export interface Difference {
  /** JSON pointer into the request; if the change is "removed", into the recorded request. */
  pointer: string;
  change: "changed" | "added" | "removed" | "reordered";
  /** Part of the request that `pointer` points into. */
  part: "messages" | "tools" | "schema" | "options" | "model" | "input" | "other";
  /** Kind of the value that differs, such as "date", "uuid", "whitespace" or "text". */
  nature: string;
  /** Short excerpts of the two values. */
  recorded?: string;
  actual?: string;
}

/** The differences between a request and the most similar recorded one. */
export interface MissExplanation {
  /** The recorded call with the most similar request. */
  nearest: { callId: string; contentHash: string };
  differences: Difference[];
  /** Number of further differences. */
  more: number;
  /** The explanation as text. */
  text: string;
  /** The first difference in a few words, such as `temperature: 0.2 → 0.7` or `messages[0].content (system) changed`. */
  cause: string;
  /** The first differences line by line: `- ` is recorded, `+ ` is requested now, two spaces are context. */
  lines: string[];
}

/** A call without a recorded answer. */
export interface Miss {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  readonly contentHash: string;
  readonly reason: MissReason;
  /** With the reason "inexact": JSON pointer and kind of that content. */
  readonly inexact?: string | undefined;
  /** Number of the replay flag because of which a recorded entry does not answer. */
  readonly flag?: number | undefined;
  /** Absent if requests were not recorded. */
  readonly explanation?: MissExplanation | undefined;
}
