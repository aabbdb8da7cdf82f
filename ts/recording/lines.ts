// The lines of a recording: one for each frame, call and end, in the order of the run's frames and their starts.

import type { AddedRequest } from "../snapshot/read-model.js";
import type { Marks } from "../snapshot/marks.js";
import type { CallMeta, ErrorInfo, Recorder } from "../types/snapshot.js";

export const FORMAT = "agent-rewind recording";
export const VERSION = 1;

/** The first line. */
export interface HeaderLine {
  format: typeof FORMAT;
  version: number;
  /** Full name of the test. */
  test: string;
  /** What recorded it, and the rules by which it answers. */
  recorder?: Recorder;
  /** The rules of `normalize` that requests were hashed under. */
  normalize?: { id: string; definition: string }[];
}

/** A generation of a frame begins. */
export interface FrameLine {
  /** Path of the frame; the frame that it is in is the longest path that it begins with. */
  frame: string;
  /** Absent for the frame of a run. */
  agent?: string;
  /** Hash of the input. */
  input?: string;
  generation?: number;
  props?: unknown;
  propsTypes?: Record<string, string>;
  /** At its start. */
  memory?: Record<string, unknown>;
  files?: Files;
}

/** A call, and how it ended. */
export interface CallLine extends Marks {
  /** Path of its frame. */
  frame: string;
  /** Its path from there. */
  call: string;
  /** Where it is not the first part of `call`. */
  kind?: string;
  hash: string;
  request?: RequestLine;
  output?: unknown;
  types?: Record<string, string>;
  error?: ErrorInfo;
  tombstone?: string;
  /** It had not ended. */
  pending?: true;
  meta?: CallMeta;
  files?: Files;
}

/** As the read model has it, but `after` is the `call` of the prompt that this one continues. */
export type RequestLine = AddedRequest;

/** A frame ends, or stands at the end of the recording. */
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

/** What stands in files beside the recording, by JSON pointer into the line. */
export type Files = Record<string, string>;

export type Line = FrameLine | CallLine | EndLine;

/** A line of the timing file: when a frame or a call started and ended, in the run's order, and how it came. */
export interface TimingLine {
  frame: string;
  call?: string;
  start: number;
  /** Where the answer was handed out, if that was before the end. */
  answer?: number;
  end?: number;
  meta?: CallMeta;
}

export const REQUEST_PARTS = ["model", "options", "schema", "tools"] as const;

export const isCallLine = (line: Line): line is CallLine => "call" in line;
export const isEndLine = (line: Line): line is EndLine => "end" in line;
