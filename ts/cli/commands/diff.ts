import { native } from "../../native.js";
import { defined } from "../../values/defined.js";
import type { CallRow, Details, FrameRow } from "../../view/run-view.js";
import { EXIT, type ExitCode } from "../exit.js";
import { readRecording } from "../input.js";
import { differences, type Difference } from "../json-diff.js";
import { visible, type Output } from "../output.js";
import { printLines, promptLines } from "./show.js";

interface Change {
  /** The call or frame. */
  callId: string;
  change: "added" | "removed" | "request" | "output" | "status";
  before?: string;
  after?: string;
  /** Where the requests or outputs differ. */
  differences?: Difference[];
  /** The prompts line by line, each line after a space, "-" or "+". */
  lines?: string[];
}

/**
 * Prints the differences of two recordings. Durations and token counts are ignored. `traces` are the runs to compare, or
 * the run in both files.
 */
export async function diff(
  paths: readonly [string, string],
  traces: readonly string[],
  out: Output,
  json: boolean,
): Promise<ExitCode> {
  const [first, second = first] = traces;
  const changes = changesBetween(await entriesOf(paths[0], first), await entriesOf(paths[1], second));
  if (json) await out.json({ equal: changes.length === 0, changes });
  else for (const change of changes) await print(change, out);
  return changes.length === 0 ? EXIT.ok : EXIT.found;
}

type Entry = (CallRow | FrameRow) & { details: () => Details };

/** In recordings without lists of calls, a call is identified by its hash. */
async function entriesOf(path: string, traceId: string | undefined): Promise<Map<string, Entry>> {
  const { view } = await readRecording(path, defined({ traceId }));
  const rows = new Map<string, Entry>();
  let generation = "";
  let frame = "root";
  for (const [index, row] of view.rows.entries()) {
    if (row.row === "generation") {
      generation = row.id === 0 ? "" : ` (generation ${row.id})`;
      continue;
    }
    if (row.row === "frame") {
      frame = row.callId;
      generation = "";
    }
    const name = row.row === "frame" ? row.callId : (row.callId ?? `${frame}/${row.kind}:${row.contentHash}`);
    const details = (): Details => view.details(index);
    rows.set(`${name}${row.row === "frame" ? "" : generation}`, { ...row, details });
  }
  return rows;
}

function changesBetween(left: ReadonlyMap<string, Entry>, right: ReadonlyMap<string, Entry>): Change[] {
  const changes: Change[] = [];
  for (const [callId, before] of left) {
    const after = right.get(callId);
    if (after === undefined) changes.push({ callId, change: "removed" });
    else changes.push(...changesOf(callId, before, after));
  }
  for (const callId of right.keys()) if (!left.has(callId)) changes.push({ callId, change: "added" });
  return changes;
}

function changesOf(callId: string, before: Entry, after: Entry): Change[] {
  const changes: Change[] = [];
  if (before.status !== after.status || before.reason !== after.reason) {
    changes.push({ callId, change: "status", before: statusOf(before), after: statusOf(after) });
  }
  if (before.row !== "call" || after.row !== "call") return changes;
  const [left, right] = [before.details(), after.details()];
  if (before.contentHash !== after.contentHash) {
    const known = left.request !== undefined && right.request !== undefined;
    const texts = [left, right].map(({ exchange = {} }) => promptLines(exchange).join("\n")) as [string, string];
    changes.push({
      callId,
      change: "request",
      before: before.contentHash,
      after: after.contentHash,
      ...(known ? { differences: differences(left.request, right.request) } : {}),
      ...(texts.every((text) => text !== "") && texts[0] !== texts[1] ? { lines: native.diffLines(...texts) } : {}),
    });
  }
  const outputs = differences(left.output, right.output);
  if (before.status === after.status && outputs.length > 0)
    changes.push({ callId, change: "output", differences: outputs });
  return changes;
}

function statusOf({ status, reason }: Entry): string {
  return reason === undefined ? status : `${status}: ${reason}`;
}

async function print({ callId, change, before, after, differences: list, lines }: Change, out: Output): Promise<void> {
  const path = visible(callId);
  if (change === "removed") return out.line(out.style("red", `- ${path}`));
  if (change === "added") return out.line(out.style("green", `+ ${path}`));
  await out.line(`${out.style("yellow", "~")} ${path}  ${change}`);
  if (lines !== undefined) {
    for (const { pointer } of list ?? []) await out.line(`    ${out.style("dim", visible(pointer))}`);
    return printLines(lines, out, "    ");
  }
  if (list === undefined) {
    await out.line(`    ${out.style("red", visible(before ?? "", 300))}`);
    return out.line(`    ${out.style("green", visible(after ?? "", 300))}`);
  }
  await printDifferences(list, out);
}

export async function printDifferences(list: readonly Difference[], out: Output): Promise<void> {
  for (const difference of list) {
    await out.line(`    ${out.style("dim", visible(difference.pointer === "" ? "(the whole)" : difference.pointer))}`);
    if ("before" in difference) await out.line(out.style("red", `      - ${shown(difference.before)}`));
    if ("after" in difference) await out.line(out.style("green", `      + ${shown(difference.after)}`));
  }
}

function shown(value: unknown): string {
  return visible(JSON.stringify(value) ?? "undefined", 200);
}
