/** Why a recording has no answer for a call. */
export type MissReason =
  /** The frame has no recording. */
  | "no-recording"
  /** No entry for this request, or all of them used up. */
  | "not-recorded"
  /** It had started but not ended. */
  | "in-flight"
  /** It ended with a value that could not be recorded. */
  | "tombstone"
  /** It failed, and the failure is to be tried again. */
  | "retry"
  /** The request has content that its hash does not cover, so an equal hash does not mean an equal request. */
  | "inexact";

/** A place in which a request differs from a recorded one. */
export interface Difference {
  /** JSON pointer into the request; for what was removed, into the recorded one. */
  pointer: string;
  change: "changed" | "added" | "removed" | "reordered";
  /** Part of the request that the place is in. */
  part: "messages" | "tools" | "schema" | "options" | "model" | "input" | "other";
  /** What kind of value differs, such as "date", "uuid", "whitespace" or "text". */
  nature: string;
  /** Short excerpts. */
  recorded?: string;
  actual?: string;
}

/** Where a request differs from the nearest one that was recorded. */
export interface MissExplanation {
  /** The recorded call whose request is nearest. */
  nearest: { callId: string; contentHash: string };
  differences: Difference[];
  /** How many further differences there are. */
  more: number;
  /** The same in words. */
  text: string;
}

/** A call that the recording has no answer for. */
export interface Miss {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  readonly contentHash: string;
  readonly reason: MissReason;
  /** With the reason "inexact": JSON pointer and kind of that content. */
  readonly inexact?: string | undefined;
  /** Absent where requests were not kept. */
  readonly explanation?: MissExplanation | undefined;
}
