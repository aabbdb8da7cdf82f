import type { CallMeta } from "../types/snapshot.js";

import type { Miss } from "../types/miss.js";

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

/** What became of the calls of a run. */
export interface ReplayReport {
  readonly mode: "live" | "resume" | "replay";
  replayed: number;
  live: number;
  missed: number;
  overtaken: number;
  /** The frames of a run that replayed, in order of their starts. */
  frames: FrameReport[];
  /** What the replayed calls had cost when they were made. */
  saved: { milliseconds: number; promptTokens: number; completionTokens: number; totalTokens: number };
}

export function emptyReport(mode: ReplayReport["mode"]): ReplayReport {
  return {
    mode,
    replayed: 0,
    live: 0,
    missed: 0,
    overtaken: 0,
    frames: [],
    saved: { milliseconds: 0, promptTokens: 0, completionTokens: 0, totalTokens: 0 },
  };
}

/** Adds what a replayed call had cost. */
export function addSaved(saved: ReplayReport["saved"], { durationMs, usage }: CallMeta): void {
  saved.milliseconds += durationMs ?? 0;
  saved.promptTokens += usage?.promptTokens ?? 0;
  saved.completionTokens += usage?.completionTokens ?? 0;
  saved.totalTokens += usage?.totalTokens ?? 0;
}

/** So many divergences are explained in an event; each costs a search among the recorded calls. */
const MAX_EXPLAINED = 10;

/** The report as plain data, for an event. */
export function reportData(report: ReplayReport): ReplayReport {
  let explained = 0;
  const frames = report.frames.map((frame): FrameReport => {
    const { firstDivergence } = frame;
    if (firstDivergence === undefined) return { ...frame };
    const { kind, name, callId, contentHash, reason } = firstDivergence;
    const miss: Miss = { kind, name, callId, contentHash, reason };
    explained += 1;
    if (explained > MAX_EXPLAINED) return { ...frame, firstDivergence: miss };
    const { explanation } = firstDivergence;
    return { ...frame, firstDivergence: explanation === undefined ? miss : { ...miss, explanation } };
  });
  return { ...report, frames, saved: { ...report.saved } };
}
