import { native } from "../../native.js";
import type { Exchange, ExchangeMessage } from "../../provider/exchange.js";
import { defined } from "../../values/defined.js";
import type { CallRow, Details, FrameRow, Row, RunView } from "../../view/run-view.js";
import { EXIT, InputError, type ExitCode } from "../exit.js";
import { nameOf, readRecording, type RecordedRun } from "../input.js";
import { time, visible, visibleLines, type Output } from "../output.js";
import { rowNamed } from "../select.js";

export interface ShowOptions {
  readonly json: boolean;
  /** True to print only the messages that the previous turn did not have. */
  readonly delta: boolean;
  /** True to also print the documents as they were recorded. */
  readonly raw: boolean;
  /** Another recording: print the difference to its call with the same callId. */
  readonly against?: string;
  readonly traceId?: string;
}

/** Prints everything of one call or frame. */
export async function show(path: string, name: string, out: Output, options: ShowOptions): Promise<ExitCode> {
  const run = await readRecording(path, defined({ traceId: options.traceId }));
  const index = rowNamed(run.view.rows, name);
  const row = run.view.rows[index] as CallRow | FrameRow;
  const details = run.view.details(index);
  if (options.json) {
    await out.json({ ...row, ...details });
    return EXIT.ok;
  }
  if (options.against !== undefined) return printAgainst(options.against, row, details, out);
  await printAbout(path, row, out);
  if (row.row === "frame") await printFrame(details, out);
  else await printCall(run, index, details, options, out);
  return EXIT.ok;
}

async function printAbout(path: string, row: CallRow | FrameRow, out: Output): Promise<void> {
  await out.line(out.style("bold", visible(row.callId ?? row.row)));
  const field = async (name: string, values: readonly (string | undefined)[]): Promise<void> => {
    const known = values.filter((value) => value !== undefined && value !== "");
    if (known.length > 0) await out.line(`${out.style("dim", name.padEnd(9))} ${visible(known.join("  "))}`);
  };
  const call = row.row === "call" ? row : undefined;
  const { startMs, endMs, reason } = row;
  const took = call?.durationMs ?? (startMs === undefined || endMs === undefined ? undefined : endMs - startMs);
  await field("status", [row.status, row.replayed === true ? "replayed" : undefined, marksOf(row), reason]);
  await field("time", [
    took === undefined ? "" : time(took),
    startMs === undefined ? "" : `started ${time(startMs)} after the run`,
  ]);
  await field("model", [call?.model, call?.api, call?.endpoint, call?.httpStatus?.toString()]);
  const usage = call?.promptTokens === undefined ? "" : `${call.promptTokens} of the prompt`;
  await field("tokens", [row.tokens === undefined ? "" : String(row.tokens), usage, call?.finishReason]);
  await field("why", [call?.why]);
  await field("hash", [call?.contentHash]);
  await field("attempts", [call?.attempts?.toString()]);
  await field("inside", [row.within]);
  await field("span", [row.spanId]);
  if (row.spanId !== undefined)
    await field("restore", [`agent-rewind restore ${nameOf(path)} --span ${row.spanId} --anchor before`]);
}

function marksOf(row: CallRow | FrameRow): string {
  const marks = { "carried over": row.carriedOver, handled: row.handled, "ended the frame": row.stopped };
  return Object.entries(marks)
    .flatMap(([name, isSet]) => (isSet === true ? [name] : []))
    .join("  ");
}

async function printFrame(
  { props, memoryAtStart, memory, budget, output, error }: Details,
  out: Output,
): Promise<void> {
  const parts = { props, "memory at the start": memoryAtStart, memory, usage: budget, result: output, error };
  for (const [name, value] of Object.entries(parts)) if (value !== undefined) await printJson(name, value, out);
}

async function printCall(
  { view }: RecordedRun,
  index: number,
  details: Details,
  { delta, raw }: ShowOptions,
  out: Output,
) {
  const { exchange = {}, request, requestFromEvents, output, error, base } = details;
  const { messages = [], tool, answer, tools } = exchange;
  const before = delta ? messagesOf(view, base ?? previousTurn(view, index)) : [];
  const known = messages.findIndex((message, at) => JSON.stringify(message) !== JSON.stringify(before[at]));
  const first = !delta || before.length === 0 ? 0 : known < 0 ? messages.length : known;
  if (messages.length > 0) {
    const skipped = first === 0 ? "" : `  after ${first} that the previous turn had`;
    await heading(`conversation  ${messages.length} messages${skipped}`, out);
    for (const message of messages.slice(first)) await printMessage(message, out);
  }
  if (tools !== undefined) await out.line(out.style("dim", `tools     ${visible(tools.join(", "), 400)}`));
  if (tool !== undefined) await printJson("arguments", tool.arguments, out);
  if (messages.length === 0 && tool === undefined && request !== undefined) await printJson("request", request, out);
  if (answer !== undefined) {
    await heading("answer", out);
    await printMessage(answer, out);
  } else if (output !== undefined) await printJson("answer", output, out);
  if (error !== undefined) await printJson("error", error, out);
  if (!raw) return;
  if (request !== undefined) await printJson(requestFromEvents ? "request, from events" : "request", request, out);
  if (output !== undefined) await printJson("output", output, out);
}

function messagesOf(view: RunView, row: number | undefined): readonly ExchangeMessage[] {
  return row === undefined ? [] : (view.details(row).exchange?.messages ?? []);
}

/** The last call of the same kind before this one in its frame. Recordings of tests do not name the base of a request. */
function previousTurn({ rows }: RunView, index: number): number | undefined {
  const { kind, parent } = rows[index] as CallRow;
  for (let at = index - 1; at >= 0; at -= 1) {
    const row = rows[at];
    if (row?.row === "call" && row.parent === parent && row.kind === kind) return at;
  }
  return undefined;
}

async function printMessage(message: ExchangeMessage, out: Output): Promise<void> {
  const [first = "", ...rest] = linesOf(message).map(visibleLines).join("\n").split("\n");
  await out.line(`${out.style("cyan", visible(message.role, 9).padEnd(9))} ${first}`);
  for (const line of rest) await out.line(`${" ".repeat(10)}${line}`);
}

/** A message as text. */
function linesOf({ text, reasoning, toolCalls = [], toolCallId, name, media = [] }: ExchangeMessage): string[] {
  const from = [name, toolCallId].filter((part) => part !== undefined);
  return [
    ...(from.length === 0 ? [] : [`(${from.join(" ")})`]),
    ...(reasoning === undefined ? [] : [`(thinks) ${reasoning}`]),
    ...(text === undefined ? [] : [text]),
    ...media.map((kind) => `[${kind}]`),
    ...toolCalls.map(({ name: tool, arguments: input }) => `→ ${tool}(${JSON.stringify(input)})`),
  ];
}

async function printAgainst(path: string, row: CallRow | FrameRow, details: Details, out: Output): Promise<ExitCode> {
  const { view } = await readRecording(path);
  const index = view.rows.findIndex((other: Row) => other.row !== "generation" && other.callId === row.callId);
  if (index < 0) throw new InputError(`${nameOf(path)}: has no call ${visible(row.callId ?? "")}`);
  const lines = native.diffLines(callText(details), callText(view.details(index)));
  await printLines(lines, out);
  return lines.every((line) => line.startsWith(" ")) ? EXIT.ok : EXIT.found;
}

/** Prints changed lines, with the three lines around each. */
export async function printLines(lines: readonly string[], out: Output, indent = ""): Promise<void> {
  const NEAR = 3;
  const changed = lines.flatMap((line, at) => (line.startsWith(" ") ? [] : [at]));
  const near = new Set(changed.flatMap((at) => Array.from({ length: 2 * NEAR + 1 }, (_, by) => at + by - NEAR)));
  let printed = -1;
  for (const [at, line] of lines.entries()) {
    if (!near.has(at)) continue;
    if (printed >= 0 && at > printed + 1) await out.line(out.style("dim", `${indent}…`));
    printed = at;
    const text = `${indent}${line[0]} ${visible(line.slice(1))}`;
    await out.line(
      line.startsWith("-") ? out.style("red", text) : line.startsWith("+") ? out.style("green", text) : text,
    );
  }
}

/** The conversation and the outcome of a call, one line for each line of a text. */
export function callText({ exchange = {}, output, error, request }: Details): string {
  const parts = [...promptLines(exchange)];
  if (parts.length === 0 && request !== undefined) parts.push(`request ${JSON.stringify(request, undefined, 2)}`);
  const { answer } = exchange;
  if (answer !== undefined) parts.push(`answer ${answer.role}`, ...linesOf(answer));
  else if (output !== undefined) parts.push(`answer ${JSON.stringify(output, undefined, 2)}`);
  if (error !== undefined) parts.push(`error ${JSON.stringify(error, undefined, 2)}`);
  return parts.join("\n");
}

/** The conversation that was sent, as text. Empty if the request is in no known form. */
export function promptLines({ model, messages = [], tools, tool }: Exchange): string[] {
  if (tool !== undefined) return [`tool ${tool.name}`, JSON.stringify(tool.arguments, undefined, 2)];
  if (messages.length === 0) return [];
  return [
    ...(model === undefined ? [] : [`model ${model}`]),
    ...messages.flatMap((message) => [`${message.role}:`, ...linesOf(message)]),
    ...(tools === undefined ? [] : [`tools ${tools.join(", ")}`]),
  ];
}

async function heading(text: string, out: Output): Promise<void> {
  await out.line();
  await out.line(out.style("bold", `── ${text}`));
}

async function printJson(name: string, value: unknown, out: Output): Promise<void> {
  await heading(name, out);
  const text = typeof value === "string" ? visibleLines(value) : visibleLines(JSON.stringify(value, undefined, 2));
  await out.line(typeof value === "string" ? text : highlighted(text, out));
}

/** Colors the keys, strings and numbers of JSON text. */
function highlighted(json: string, out: Output): string {
  return json.replaceAll(
    /("(?:[^"\\]|\\.)*")(\s*:)?|\b(-?\d[\d.eE+-]*|true|false|null)\b/g,
    (all, text, colon, other) => {
      if (other !== undefined) return out.style("yellow", all);
      return colon === undefined
        ? out.style("green", text as string)
        : out.style("cyan", text as string) + String(colon);
    },
  );
}
