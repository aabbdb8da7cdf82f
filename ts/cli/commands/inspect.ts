import type { AgentSnapshot } from "../../types/snapshot.js";
import type { CallRow, FrameRow, Row } from "../../view/run-view.js";
import { EXIT, type ExitCode } from "../exit.js";
import { readRun, reading, type RecordedRun } from "../input.js";
import { fitTo, printWarnings, time, visible, type Output, type Outputs, type Style } from "../output.js";
import { runsIn } from "../runs.js";
import { filtered } from "../select.js";

export interface InspectOptions {
  readonly json: boolean;
  /** True to also tell why a replay does not answer a call. */
  readonly why: boolean;
  /** True to print the ids of spans. */
  readonly ids: boolean;
  /** Deepest level to print. */
  readonly depth?: number;
  /** True to print only what failed or did not end. */
  readonly failed: boolean;
  /** Print only rows that contain this text. */
  readonly grep?: string;
  /** The run of a trace with several. */
  readonly traceId?: string;
}

/** Prints the tree of a recording. */
export async function inspect(path: string, outputs: Outputs, options: InspectOptions): Promise<ExitCode> {
  const { out } = outputs;
  const { json, why, traceId } = options;
  const run = await readRun(path, traceId === undefined ? {} : { traceId });
  if (run.kind === "audit log") return (await import("./context/show.js")).showContext([path], outputs, json);
  const { rows } = reading(path, () => run.view);
  const { processId, timestamp, provenance, recorder, warnings = [], metadata, normalize, redact } = run.snapshot;
  if (json) {
    const about = { kind: run.kind, processId, timestamp, provenance, recorder, metadata, warnings, normalize, redact };
    const list = filtered(rows, options).map(({ row }) => (why ? row : { ...row, why: undefined }));
    await out.json({ ...about, rows: list });
    return EXIT.ok;
  }
  await printHead(run, out);
  await printWarnings(run.snapshot, out, "! ");
  const width = out.width ?? Infinity;
  const place = placeIn(rows, width);
  const bars: boolean[] = [];
  for (const { row, last, number } of filtered(rows, options)) {
    if (!out.open) break;
    bars.length = row.depth;
    const branch = row.depth === 0 ? "" : indentOf(bars) + (last ? "└─ " : "├─ ");
    bars.push(!last);
    const bar = place(row);
    const text = out.style("dim", branch) + describe(row, number, options, out);
    await out.line(`${fitTo(text, width - bar.length, bar !== "")}${bar === "" ? "" : out.style("cyan", bar)}`);
    if (why && row.row === "call" && row.why !== undefined) {
      const reason = out.style("yellow", `why: ${visible(row.why, 400)}`);
      await out.line(fitTo(out.style("dim", indentOf(bars)) + reason, width));
    }
  }
  return EXIT.ok;
}

async function printHead({ kind, snapshot, trace }: RecordedRun, out: Output): Promise<void> {
  const { processId, timestamp, provenance, normalize, redact }: AgentSnapshot = snapshot;
  const runs = trace === undefined ? [] : runsIn(trace);
  const started = runs.find(({ traceId }) => traceId === provenance.traceId)?.started ?? timestamp;
  const rules = [
    ...(normalize === undefined ? [] : [`normalized by ${normalize.map(({ id }) => id).join(", ")}`]),
    ...(redact === undefined ? [] : ["redacted"]),
  ];
  const run = trace === undefined ? [] : [`run ${visible(provenance.traceId)}`];
  // The recording of a test has neither an id nor a time.
  const named = kind === "recording" ? [] : [out.style("bold", visible(processId)), new Date(started).toISOString()];
  const [id = "", ...when] = named;
  const head = [`${kind} ${id}`.trimEnd(), ...when, ...run, ...rules];
  await out.line(fitTo(head.join("  "), out.width ?? Infinity));
  if (runs.length < 2) return;
  await out.line(`runs in this file (select one by --trace):`);
  for (const { traceId, started: at } of runs) {
    await out.line(`  ${visible(traceId)}  ${at === undefined ? "" : new Date(at).toISOString()}`);
  }
}

/** The lines of the frames around a row. `bars`: for each level, whether more rows follow. */
function indentOf(bars: readonly boolean[]): string {
  return bars
    .slice(1)
    .map((more) => (more ? "│  " : "   "))
    .join("");
}

const STYLES: Readonly<Record<string, Style>> = {
  ok: "green",
  completed: "green",
  failed: "red",
  "in flight": "yellow",
  running: "yellow",
  "not kept": "yellow",
};

function describe(row: Row, number: number | undefined, options: InspectOptions, out: Output): string {
  if (row.row === "generation") return out.style("dim", `generation ${row.id}`);
  const isCall = row.row === "call";
  const name = isCall ? (row.name ?? `${row.kind} ${row.contentHash.slice(0, 12)}`) : row.name;
  const cells = [
    out.style(isCall ? "cyan" : "bold", visible(name, 120)),
    out.style(STYLES[row.status] ?? "dim", visible(row.status)),
    ...insideOf(row, out),
    ...(row.carriedOver === true ? [out.style("yellow", "carried over")] : []),
    ...(row.replayed === true ? [out.style("dim", "replayed")] : []),
    ...(isCall ? callCells(row, out) : frameCells(row)),
  ];
  if (isCall && number !== undefined) cells.push(out.style("dim", `#${number}`));
  if (options.ids && row.spanId !== undefined) cells.push(out.style("dim", `span ${visible(row.spanId)}`));
  if (row.reason !== undefined) cells.push(visible(row.reason, 200));
  if (isCall && row.inexact !== undefined)
    cells.push(out.style("yellow", `not replayed: ${visible(row.inexact, 200)}`));
  return [...cells, ...excerpts(row, out)].join("  ");
}

function callCells(row: CallRow, out: Output): string[] {
  const { durationMs, startMs, endMs, tokens, model, endpoint, httpStatus } = row;
  const took = durationMs ?? (startMs === undefined || endMs === undefined ? undefined : endMs - startMs);
  const named = row.name?.includes(model ?? "\0") === true ? [] : [visible(model ?? "", 60)];
  return [
    ...(took === undefined ? [] : [time(took)]),
    ...(startMs === undefined ? [] : [out.style("dim", `at ${time(startMs)}`)]),
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
    ...named.filter((text) => text !== ""),
    ...(endpoint === undefined ? [] : [out.style("dim", visible(endpoint, 80))]),
    ...(httpStatus === undefined || httpStatus < 400 ? [] : [out.style("red", String(httpStatus))]),
  ];
}

function frameCells({ startMs, endMs, calls, tokens, ownTokens, generation }: FrameRow): string[] {
  return [
    ...(startMs === undefined || endMs === undefined ? [] : [time(endMs - startMs)]),
    `${calls} ${calls === 1 ? "call" : "calls"}`,
    ...(tokens === 0 ? [] : [`${tokens} tokens${ownTokens === tokens ? "" : ` (own ${ownTokens})`}`]),
    ...(generation === 0 ? [] : [`generation ${generation}`]),
  ];
}

function excerpts(row: CallRow | FrameRow, out: Output): string[] {
  if (row.row === "frame") return row.props === undefined ? [] : [out.style("dim", visible(row.props, 100))];
  const { question, answer } = row;
  const texts = [question, answer].flatMap((text) => (text === undefined ? [] : [visible(text, 80)]));
  return texts.length === 0 ? [] : [out.style("dim", texts.join(" → "))];
}

function insideOf({ callId = "", name = "", within }: CallRow | FrameRow, out: Output): string[] {
  const path = callId.slice(0, callId.length - name.length);
  return within === undefined ? [] : [out.style("dim", `inside ${visible(within.slice(path.length), 120)}`)];
}

const BAR = 12;

/** Draws when a call or frame ran, as a part of the run: in time, or in the order of starts and ends. */
function placeIn(rows: readonly Row[], width: number): (row: Row) => string {
  if (width === Infinity || width < 80) return () => "";
  const timed = rows.some((row) => row.row !== "generation" && row.startMs !== undefined);
  const bounds = (row: Row): [number | undefined, number | undefined] => {
    if (row.row === "generation") return [undefined, undefined];
    return timed ? [row.startMs, row.endMs] : [row.startOrder, row.endOrder];
  };
  const end = rows.reduce((latest, row) => Math.max(latest, ...bounds(row).map((value) => value ?? 0)), 1);
  const at = (value: number): number => Math.min(BAR - 1, Math.floor((value / end) * BAR));
  return (row) => {
    const [from, to = end] = bounds(row);
    if (from === undefined) return " ".repeat(BAR + 1);
    const [first, last] = [at(from), at(to)];
    return ` ${"·".repeat(first)}${"█".repeat(last - first + 1)}${"·".repeat(BAR - 1 - last)}`;
  };
}
