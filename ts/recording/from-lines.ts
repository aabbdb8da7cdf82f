import { callMarksOf, marksOf } from "../snapshot/marks.js";
import type { AgentFrameSnapshot, AgentSnapshot, BudgetState, CallRecord, GenerationStart } from "../types/snapshot.js";
import { emptyFrame } from "../values/empty-frame.js";
import { present, setMember } from "../values/members.js";
import { RequestParts } from "./request-parts.js";
import {
  isCallLine,
  isEndLine,
  REQUEST_PARTS,
  type CallLine,
  type EndLine,
  type FrameLine,
  type HeaderLine,
  type Line,
  type PromptLine,
  type RequestLine,
  type TimingLine,
} from "./lines.js";

/**
 * Builds a snapshot from lines. Opening the snapshot checks its values.
 * @throws Error with the fault of a line, and its `index`.
 */
export function fromLines(
  { recorder, normalize }: Pick<HeaderLine, "recorder" | "normalize">,
  lines: readonly Line[],
  timing: readonly TimingLine[],
): AgentSnapshot {
  const reader = new Reader(lines, timing);
  for (const [index, line] of lines.entries()) {
    try {
      reader.read(line);
    } catch (error) {
      throw Object.assign(error as Error, { index });
    }
  }
  return {
    processId: "recording",
    timestamp: 0,
    root: reader.finish(),
    provenance: { traceId: "recording", source: "dump" },
    version: 1,
    ...(recorder === undefined ? {} : { recorder }),
    ...(normalize === undefined || normalize.length === 0 ? {} : { normalize }),
  };
}

interface OpenFrame {
  readonly snapshot: AgentFrameSnapshot & { calls: CallRecord[] };
  /** Prefix of the callIds in the frame. */
  readonly base: string;
  /** Requests of the last generation, by call. */
  prompts: Map<string, { index: number; parts: Partial<Record<(typeof REQUEST_PARTS)[number], number>> }>;
}

type Order = Pick<CallRecord, "startOrder" | "answerOrder" | "endOrder">;

class Reader {
  readonly #frames = new Map<string, OpenFrame>();
  readonly #texts: unknown[] = [];
  readonly #places = new Map<string, number>();
  readonly #parts: RequestParts;
  readonly #timing = new Map<string, TimingLine>();
  /** Without timing, each call and frame ends before the next one starts. */
  readonly #timed: boolean;
  #clock = 1;

  constructor(lines: readonly Line[], timing: readonly TimingLine[]) {
    this.#parts = new RequestParts(lines);
    for (const line of timing) this.#timing.set(timingKey(line), line);
    this.#timed = timing.length > 0;
    this.#frames.set("root", { snapshot: emptyFrame(), base: "root", prompts: new Map() });
  }

  read(line: Line): void {
    if (isCallLine(line)) this.#call(line);
    else if (isEndLine(line)) this.#end(line);
    else this.#generation(line);
  }

  finish(): AgentFrameSnapshot {
    const { snapshot } = this.#open("root");
    snapshot.startOrder = 0;
    const { entries } = this.#parts;
    return { ...snapshot, requestTexts: this.#texts, ...(entries.length === 0 ? {} : { requestParts: entries }) };
  }

  #open(path: unknown): OpenFrame {
    const frame = typeof path === "string" ? this.#frames.get(path) : undefined;
    if (frame === undefined) throw new Error(`no earlier line starts the frame ${JSON.stringify(path)}`);
    return frame;
  }

  #generation({
    frame: named,
    agent = "",
    within,
    input,
    generation = 0,
    props,
    propsTypes,
    memory = {},
  }: FrameLine): void {
    const start: GenerationStart = { id: generation, ...present({ props, propsTypes }), memory };
    const path = generation === 0 ? named : withoutSuffix(named, `#${generation}`);
    const known = this.#frames.get(path);
    if (known !== undefined) {
      const { snapshot } = known;
      const isFirst = path === "root" && snapshot.calls.length === 0 && Object.keys(snapshot.children).length === 0;
      if (!isFirst) {
        const { generation: ended = { id: 0 }, journal, calls, children } = snapshot;
        snapshot.generations = [...(snapshot.generations ?? []), { ...ended, journal, calls, children }];
        Object.assign(snapshot, { journal: { prompt: {}, tool: {} }, calls: [], children: {} });
        known.prompts = new Map();
      }
      snapshot.generation = start;
      this.#frames.set(named, known);
      return;
    }
    const { parent, name } = this.#parentOf(path);
    const callId = `${parent.base}/${name}`;
    const snapshot = emptyFrame(callId, agent);
    snapshot.generation = start;
    if (within !== undefined) snapshot.within = `${parent.base}/${within}`;
    if (input !== undefined) snapshot.inputHash = input;
    Object.assign(snapshot, this.#order({ frame: path }));
    setMember(parent.snapshot.children, callId, snapshot);
    const opened: OpenFrame = { snapshot, base: agent === "" ? "root" : callId, prompts: new Map() };
    this.#frames.set(path, opened).set(named, opened);
  }

  #parentOf(path: string): { parent: OpenFrame; name: string } {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const parent = this.#frames.get(path.slice(0, at));
      if (parent !== undefined) return { parent, name: path.slice(at + 1) };
    }
    throw new Error(`no earlier line starts the frame above ${JSON.stringify(path)}`);
  }

  #call(line: CallLine): void {
    const frame = this.#open(line.frame);
    const {
      call,
      kind = call.slice(0, call.indexOf(":")),
      within,
      hash,
      output,
      types,
      error,
      tombstone,
      pending,
    } = line;
    const timing = this.#timing.get(timingKey(line));
    const meta = { ...line.meta, ...timing?.meta };
    const order = this.#order(line, pending === true);
    frame.snapshot.calls.push({
      kind,
      callId: `${frame.base}/${call}`,
      ...(within === undefined ? {} : { within: `${frame.base}/${within}` }),
      contentHash: hash,
      ...order,
      ...present({ output, types, error, tombstone }),
      ...callMarksOf(line),
      ...(line.request === undefined ? {} : this.#request(line.request, frame, line)),
      ...(Object.keys(meta).length === 0 ? {} : { meta }),
    });
  }

  #request(request: RequestLine, frame: OpenFrame, line: CallLine): Pick<CallRecord, "request" | "requestPart"> {
    if (!("document" in request)) return { request: this.#prompt(request, frame, line.call) };
    const part = this.#parts.request(line, request);
    return part === undefined ? { request: { document: this.#place(request.document) } } : { requestPart: part };
  }

  #prompt(request: PromptLine, frame: OpenFrame, call: string): NonNullable<CallRecord["request"]> {
    const before = request.after === undefined ? undefined : frame.prompts.get(request.after);
    if (request.after !== undefined && before === undefined) {
      throw new Error(
        `"after" names the call ${JSON.stringify(request.after)}, which is not in an earlier line of the frame`,
      );
    }
    const parts = { ...before?.parts };
    for (const part of REQUEST_PARTS) {
      if (part in request) parts[part] = this.#place(request[part]);
      if (request.without?.includes(part) === true) delete parts[part];
    }
    frame.prompts.set(call, { index: frame.snapshot.calls.length, parts });
    return {
      ...(before === undefined ? {} : { base: before.index }),
      add: request.messages.map((message) => this.#place(message)),
      ...parts,
    };
  }

  /** Index of a value in `requestTexts`, which contain equal values once. */
  #place(value: unknown): number {
    const text = JSON.stringify(value);
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    this.#texts.push(value);
    this.#places.set(text, this.#texts.length - 1);
    return this.#texts.length - 1;
  }

  #end(line: EndLine): void {
    const { end, status, output, outputTypes, error, memory, budget } = line;
    const { snapshot } = this.#open(end);
    snapshot.state = {
      status,
      ...(status === "completed" ? { output: output ?? null } : {}),
      ...present({ error }),
    };
    if (outputTypes !== undefined) snapshot.outputTypes = outputTypes;
    if (memory !== undefined) snapshot.memory = memory;
    if (budget !== undefined) snapshot.budgetState = budget as BudgetState;
    Object.assign(snapshot, marksOf(line));
    if (!this.#timed && status !== "running" && end !== "root") snapshot.endOrder = this.#clock++;
  }

  #order(line: { frame: string; call?: string }, pending = false): Order {
    const timing = this.#timing.get(timingKey(line));
    if (timing !== undefined) {
      const { start, answer, end } = timing;
      return { startOrder: start, ...present({ answerOrder: answer, endOrder: end }) };
    }
    const startOrder = this.#clock++;
    return pending || line.call === undefined ? { startOrder } : { startOrder, endOrder: this.#clock++ };
  }
}

/** True if the timing has a line for each of these lines. */
export function fits(lines: readonly Line[], timing: readonly TimingLine[]): boolean {
  const keys = new Set(timing.map(timingKey));
  const wanted = lines.filter((line): line is FrameLine | CallLine => "frame" in line);
  const isUntimed = (line: FrameLine | CallLine): boolean =>
    !("call" in line) && (line.frame === "root" || (line.generation ?? 0) !== 0);
  return wanted.every((line) => isUntimed(line) || keys.has(timingKey(line)));
}

function timingKey({ frame, call }: { frame: string; call?: string }): string {
  return call === undefined ? frame : `${frame}\n${call}`;
}

function withoutSuffix(text: string, suffix: string): string {
  return text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
}
