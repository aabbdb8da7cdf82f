// The lines of a recording: one for each start of a generation, call, and end of a frame, in the order of their starts.

import type { CallMarks, Marks } from "../snapshot/marks.js";
import type { CallMeta, ErrorInfo, Recorder } from "../types/snapshot.js";

export const FORMAT = "agent-rewind recording";
export const VERSION = 1;

/** The first line. */
export interface HeaderLine {
  format: typeof FORMAT;
  version: number;
  /** Full name of the test. */
  test: string;
  /** The program that made the recording, and its replay flags. */
  recorder?: Recorder;
  /** The rules of `normalize` that applied to the requests before hashing. */
  normalize?: { id: string; definition: string }[];
}

/** The start of a generation of a frame. */
export interface FrameLine {
  /** Path of the frame. Its parent is the frame with the longest path that is a prefix of this path. */
  frame: string;
  /** Id of the agent; absent in the frame of a run. */
  agent?: string;
  /** The outer call of the frame, relative to the frame above. */
  within?: string;
  /** Hash of the input. */
  input?: string;
  generation?: number;
  props?: unknown;
  propsTypes?: Record<string, string>;
  /** The memory at the start. */
  memory?: Record<string, unknown>;
  files?: Files;
}

/** A call and its outcome. */
export interface CallLine extends CallMarks {
  /** Path of its frame. */
  frame: string;
  /** The callId, relative to the frame. */
  call: string;
  /** The outer call, relative to the frame. */
  within?: string;
  /** The kind, if it is not the first part of `call`. */
  kind?: string;
  hash: string;
  request?: RequestLine;
  output?: unknown;
  types?: Record<string, string>;
  error?: ErrorInfo;
  tombstone?: string;
  /** The call had not ended. */
  pending?: true;
  meta?: CallMeta;
  files?: Files;
}

/** A request without the parts that the requests of earlier lines contain. */
export interface SharedLine {
  /** The request document. In place of a shared value it has `null`, in place of a shared list the further items. */
  document: unknown;
  /** The shared parts, by JSON pointer into the document. */
  shared?: Record<string, SharedFrom>;
}

/** The place of a shared value in an earlier line. */
export interface SharedFrom {
  /** Path of the frame, if it is another one. */
  frame?: string;
  call: string;
  /** JSON pointer to the value in the whole document of that line, if it is another one. */
  pointer?: string;
  /** For lists: only the first items. */
  keep?: number;
}

/** A prompt as version 0.1.0 wrote it: its members, without those that are equal in an earlier prompt. */
export interface PromptLine {
  /** The `call` of the prompt that this one continues. */
  after?: string;
  messages: unknown[];
  model?: unknown;
  options?: unknown;
  schema?: unknown;
  tools?: unknown;
  /** Members of the earlier prompt that this one lacks. */
  without?: string[];
}

export type RequestLine = SharedLine | PromptLine;

/** The end of a frame, or its state at the end of the recording. */
export interface EndLine extends Marks {
  end: string;
  status: "running" | "completed" | "failed";
  output?: unknown;
  outputTypes?: Record<string, string>;
  error?: unknown;
  memory?: Record<string, unknown>;
  budget?: unknown;
  files?: Files;
}

/** Names of files next to the recording, by JSON pointer into the line. */
export type Files = Record<string, string>;

export type Line = FrameLine | CallLine | EndLine;

/** A line of the timing file: the positions of a frame or a call in the run's order, and the timing of its answer. */
export interface TimingLine {
  frame: string;
  call?: string;
  start: number;
  /** Position of the answer, if the call returned it before its end. */
  answer?: number;
  end?: number;
  meta?: CallMeta;
}

export const REQUEST_PARTS = ["model", "options", "schema", "tools"] as const;

export const isCallLine = (line: Line): line is CallLine => "call" in line;
export const isEndLine = (line: Line): line is EndLine => "end" in line;
