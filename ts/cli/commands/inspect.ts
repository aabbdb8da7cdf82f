import { rowsOf, type CallRow, type FrameRow, type GenerationRow, type Row } from "../frames.js";
import { defined } from "../../values/defined.js";
import { EXIT, type ExitCode } from "../exit.js";
import { readRecording, reading } from "../input.js";
import { visible, type Output, type Style } from "../output.js";

interface InspectOptions {
  readonly json: boolean;
  /** True to also tell why a replay does not answer a call. */
  readonly why: boolean;
  /** The run of a trace with several. */
  readonly traceId?: string;
}

/** Prints the tree of a snapshot or trace. */
export async function inspect(path: string, out: Output, { json, why, ...options }: InspectOptions): Promise<ExitCode> {
  const { kind, snapshot } = await readRecording(path, options);
  const list = reading(path, () => rowsOf(snapshot));
  const { processId, timestamp, provenance, recorder, warnings = [], metadata, normalize, redact } = snapshot;
  if (json) {
    const rows = [...list].map((row) => ({ ...plainRow(row), ...(why ? defined({ why: unanswered(row) }) : {}) }));
    const about = { kind, processId, timestamp, provenance, recorder, metadata, warnings, normalize, redact };
    await out.json({ ...about, rows });
    return EXIT.ok;
  }
  const rules = [
    ...(normalize === undefined ? [] : [`normalized by ${normalize.map(({ id }) => id).join(", ")}`]),
    ...(redact === undefined ? [] : ["redacted"]),
  ];
  await out.line(
    [`${kind} ${out.style("bold", visible(processId))}`, new Date(timestamp).toISOString(), ...rules].join("  "),
  );
  for (const { code, message } of warnings)
    await out.line(out.style("yellow", `! ${visible(code)}: ${visible(message)}`));
  const bars: boolean[] = [];
  for (const row of list) {
    if (!out.open) break;
    bars.length = row.depth;
    const branch = row.depth === 0 ? "" : indentOf(bars) + (row.last ? "└─ " : "├─ ");
    bars.push(!row.last);
    await out.line(out.style("dim", branch) + describe(row, out));
    const reason = why ? unanswered(row) : undefined;
    if (reason !== undefined) {
      await out.line(out.style("dim", indentOf(bars)) + out.style("yellow", `why: ${visible(reason, 400)}`));
    }
  }
  return EXIT.ok;
}

/** The lines of the frames around a row. `bars`: for each level, whether more rows follow. */
function indentOf(bars: readonly boolean[]): string {
  return bars
    .slice(1)
    .map((more) => (more ? "│  " : "   "))
    .join("");
}

/** Why a replay does not answer a call; `undefined` if it does. */
function unanswered(row: Row): string | undefined {
  if (row.row !== "call") return undefined;
  if (row.dropped === true) return "a fork dropped it: a replay executes it again";
  if (row.inexact !== undefined)
    return `its hash does not cover its request (${row.inexact}): replay flag 1 of the recording forbids an answer`;
  if (row.status === "in flight") return "it had started and not ended: a resumed run executes it again";
  if (row.status === "not kept") return `its result could not be recorded (${row.reason}): a replay executes it again`;
  if (row.status === "failed" && row.stopped === true && row.handled !== true)
    return 'the run ended with this failure: a resumed run executes it again, unless it runs with failures: "replay"';
  return undefined;
}

/** The row without the output and the request, which would make the list as large as the recording. */
function plainRow(row: Row): object {
  if (row.row !== "call") return row;
  const { output: _output, request: _request, ...plain } = row;
  return plain;
}

function describe(row: Row, out: Output): string {
  switch (row.row) {
    case "call":
      return describeCall(row, out);
    case "frame":
      return describeFrame(row, out);
    case "generation":
      return describeGeneration(row, out);
  }
}

const STYLES: Readonly<Record<string, Style>> = {
  ok: "green",
  completed: "green",
  failed: "red",
  "in flight": "yellow",
  running: "yellow",
  "not kept": "yellow",
};

function describeCall(row: CallRow, out: Output): string {
  const { kind, name, contentHash, status, carriedOver, inexact, reason, durationMs, tokens } = row;
  return [
    out.style("cyan", visible(name ?? `${kind} ${contentHash.slice(0, 12)}`, 120)),
    out.style(STYLES[status] as Style, status),
    ...insideOf(row, out),
    ...carriedOverMark(carriedOver, out),
    ...(durationMs === undefined ? [] : [time(durationMs)]),
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
    ...(reason === undefined ? [] : [visible(reason, 200)]),
    ...(inexact === undefined ? [] : [out.style("yellow", `not replayed: ${visible(inexact, 200)}`)]),
  ].join("  ");
}

function insideOf({ callId = "", name = "", within }: CallRow | FrameRow, out: Output): string[] {
  const path = callId.slice(0, callId.length - name.length);
  return within === undefined ? [] : [out.style("dim", `inside ${visible(within.slice(path.length), 120)}`)];
}

function carriedOverMark(carriedOver: true | undefined, out: Output): string[] {
  return carriedOver === true ? [out.style("yellow", "carried over")] : [];
}

function describeFrame(row: FrameRow, out: Output): string {
  const { name, status, carriedOver, reason, generation, calls, tokens } = row;
  return [
    out.style("bold", visible(name, 120)),
    out.style(STYLES[status] ?? "dim", visible(status)),
    ...insideOf(row, out),
    ...carriedOverMark(carriedOver, out),
    `${calls} ${calls === 1 ? "call" : "calls"}`,
    ...(tokens === 0 ? [] : [`${tokens} tokens`]),
    ...(generation === 0 ? [] : [`generation ${generation}`]),
    ...(reason === undefined ? [] : [visible(reason, 200)]),
  ].join("  ");
}

function describeGeneration({ id }: GenerationRow, out: Output): string {
  return out.style("dim", `generation ${id}`);
}

function time(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1_000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
}
