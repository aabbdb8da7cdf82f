import type { CallMeta } from "../../types/snapshot.js";

import type { Miss } from "../../types/miss.js";
import type { FrameReport, ReplayReport } from "../../types/report.js";

export function emptyReport(mode: ReplayReport["mode"]): ReplayReport {
  return {
    mode,
    replayed: 0,
    live: 0,
    missed: 0,
    overtaken: 0,
    replayedFailures: 0,
    unprovenFailures: [],
    frames: [],
    inexact: [],
    withheld: [],
    inFlight: [],
    incompleteErrors: [],
    unrecorded: [],
    saved: { milliseconds: 0, promptTokens: 0, completionTokens: 0, totalTokens: 0 },
  };
}

/** Adds the cost that a replayed call had when it was recorded. */
export function addSaved(saved: ReplayReport["saved"], { durationMs, usage }: CallMeta): void {
  saved.milliseconds += finite(durationMs);
  saved.promptTokens += finite(usage?.promptTokens);
  saved.completionTokens += finite(usage?.completionTokens);
  saved.totalTokens += finite(usage?.totalTokens);
}

/** A recording may have been edited, so its numbers may be anything. */
function finite(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** An event explains at most this many divergences. Each costs a search among the recorded calls. */
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
  const { inexact, withheld, inFlight, incompleteErrors, unprovenFailures, unrecorded, saved } = report;
  return {
    ...report,
    frames,
    inexact: [...inexact],
    withheld: [...withheld],
    inFlight: [...inFlight],
    incompleteErrors: [...incompleteErrors],
    unprovenFailures: [...unprovenFailures],
    unrecorded: unrecorded.map((request) => ({ ...request })),
    saved: { ...saved },
  };
}
