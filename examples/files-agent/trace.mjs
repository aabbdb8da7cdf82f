// Reads a trace file, to choose a point in it and to count independently which calls had finished by then.
import { readFile } from "node:fs/promises";

/** The events of a JSONL trace file, in order. */
export async function readTrace(path) {
  const text = await readFile(path, "utf8");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The spanId of the n-th (from 0) successful end of an agent. */
export function nthEnd(events, agentId, n) {
  const ends = events.filter((event) => event.type === "agent:end" && event.agentId === agentId && event.success);
  if (ends.length <= n)
    throw new Error(`The trace has ${ends.length} ends of "${agentId}"; number ${n + 1} was asked for.`);
  return ends[n].trace.spanId;
}

/** The spanId of the last turn below a span. */
export function lastTurnOf(events, spanId) {
  const parents = new Map(events.map(({ trace }) => [trace.spanId, trace.parentSpanId]));
  const isBelow = (span) => {
    while (span && span !== spanId) span = parents.get(span);
    return span === spanId;
  };
  const turn = events.findLast((event) => event.type === "turn:end" && isBelow(event.trace.spanId));
  if (!turn) throw new Error(`The trace has no turn below the span "${spanId}".`);
  return turn.trace.spanId;
}

/**
 * The number of calls that had finished at a point of the trace, by default at its end.
 *
 * @param {object[]} events
 * @param {{ spanId: string, anchor: "before" | "after" }} [point]
 * @returns {{ model: number, tool: number }}
 */
export function finishedBy(events, point) {
  const kept = point ? events.slice(0, cutOf(events, point)) : events;
  const ends = (type) => kept.filter((event) => event.type === type && event.success).length;
  return { model: ends("turn:end"), tool: ends("tool:call:end") };
}

function cutOf(events, { spanId, anchor }) {
  const suffix = anchor === "before" ? ":start" : ":end";
  const index = events.findIndex((event) => event.trace.spanId === spanId && event.type.endsWith(suffix));
  return anchor === "before" ? index : index + 1;
}
