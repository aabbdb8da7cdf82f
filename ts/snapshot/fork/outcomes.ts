import type { CallRecord, ErrorInfo, FrameState } from "../../types/snapshot.js";
import type { Encoded } from "../../values/encode.js";
import type { Entry, RowEntry } from "./find.js";
import { lastOf, type FrameNode } from "./tree.js";

/** How a call or frame is to end. */
export type Outcome = { readonly output: Encoded } | { readonly error: ErrorInfo };

type Types = Record<string, string>;

/**
 * Gives a call or frame another outcome.
 * @returns the call or frame, if it now fails.
 */
export function setOutcome(entry: Entry, outcome: Outcome): object | undefined {
  const changed =
    entry.type === "frame"
      ? setResult(entry.node, outcome)
      : entry.type === "row"
        ? setRow(entry, outcome)
        : setCall(entry.call, outcome);
  return "error" in outcome ? changed : undefined;
}

function setCall(call: CallRecord, outcome: Outcome): CallRecord {
  // What was measured of the recorded answer is not true of another.
  for (const field of ["output", "types", "tombstone", "error", "stopped", "handled", "meta"] as const)
    delete call[field];
  return Object.assign(call, "error" in outcome ? { error: outcome.error } : parsed(outcome.output));
}

function setResult({ frame }: FrameNode, outcome: Outcome): object {
  delete frame.outputTypes;
  if ("error" in outcome) {
    frame.state = { status: "failed", error: outcome.error };
  } else {
    const { output, types } = parsed(outcome.output);
    frame.state = { status: "completed", output } satisfies FrameState;
    if (types !== undefined) frame.outputTypes = types;
  }
  return frame;
}

/** A row holds JSON only. Anything else stands in a call in its place, which answers once. */
function setRow({ node, row }: RowEntry, outcome: Outcome): object {
  if ("output" in outcome && outcome.output.types === null) {
    delete row.entry.error;
    row.entry.output = JSON.parse(outcome.output.text);
    return row;
  }
  const generation = lastOf(node.generations);
  const { kind, contentHash } = row;
  const same = generation.calls.filter((call) => call.kind === kind && call.contentHash === contentHash);
  const call: CallRecord = {
    kind,
    callId: `${node.frame.callId}/${kind}:${contentHash}:${same.length}`,
    contentHash,
    // No order is known of it; it comes after the calls that the row came after.
    startOrder: same.reduce((last, { startOrder }) => Math.max(last, startOrder), 0),
  };
  generation.rows = generation.rows.filter((other) => other !== row);
  generation.calls.push(call);
  return setCall(call, outcome);
}

function parsed({ text, types }: Encoded): { output: unknown; types?: Types } {
  const output: unknown = JSON.parse(text);
  return types === null ? { output } : { output, types: JSON.parse(types) as Types };
}
