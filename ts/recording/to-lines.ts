import { marksOf } from "../snapshot/marks.js";
import type {
  AgentFrameSnapshot,
  AgentSnapshot,
  CallMeta,
  CallRecord,
  ErrorInfo,
  GenerationRecord,
  KeptRequest,
} from "../types/snapshot.js";
import {
  REQUEST_PARTS,
  type CallLine,
  type EndLine,
  type FrameLine,
  type Line,
  type RequestLine,
  type TimingLine,
} from "./lines.js";

/** A snapshot as lines: what was asked and answered, and apart from it when. */
export interface RecordingLines {
  readonly lines: Line[];
  readonly timing: TimingLine[];
}

export function toLines({ root }: AgentSnapshot): RecordingLines {
  const writer = new Writer(root.requestTexts ?? []);
  writer.frame(root, { path: "root", base: "root" });
  return writer;
}

/** Where a frame stands: its path in the recording, and what the callIds in it begin with. */
interface Place {
  readonly path: string;
  readonly base: string;
}

type Body = Pick<GenerationRecord, "journal" | "children" | "calls" | "memory" | "props" | "propsTypes" | "id">;

class Writer implements RecordingLines {
  readonly lines: Line[] = [];
  readonly timing: TimingLine[] = [];
  readonly #texts: readonly unknown[];

  constructor(texts: readonly unknown[]) {
    this.#texts = texts;
  }

  /** Frames are as deep as agents call each other, which has a bound. */
  frame(frame: AgentFrameSnapshot, place: Place): void {
    const { startOrder, endOrder } = frame;
    if (startOrder !== undefined && place.path !== "root") {
      this.timing.push({ frame: place.path, start: startOrder, ...(endOrder === undefined ? {} : { end: endOrder }) });
    }
    const last: Body = { ...frame, ...(frame.generation ?? { id: 0 }), calls: frame.calls ?? [] };
    if (frame.generation?.memory === undefined) delete last.memory;
    for (const body of [...(frame.generations ?? []), last]) {
      // Calls and frames are numbered anew in each generation.
      this.#generation(frame, body, body.id === 0 ? place : { ...place, path: `${place.path}#${body.id}` });
    }
    this.#end(frame, place);
  }

  #generation(frame: AgentFrameSnapshot, body: Body, place: Place): void {
    const memory = body.memory ?? {};
    const line: FrameLine = {
      frame: place.path,
      ...(frame.agentId === "" ? {} : { agent: frame.agentId }),
      ...(frame.inputHash === undefined || place.path === "root" ? {} : { input: frame.inputHash }),
      ...(body.id === 0 ? {} : { generation: body.id }),
      ...(body.props === undefined || isEmpty(body.props) ? {} : { props: body.props }),
      ...(body.propsTypes === undefined ? {} : { propsTypes: body.propsTypes }),
      ...(isEmpty(memory) ? {} : { memory }),
    };
    // The frame of the recording itself goes without saying.
    if (place.path !== "root" || Object.keys(line).length > 1) this.lines.push(line);
    for (const call of body.calls) this.#call(call, body, place);
    for (const child of Object.values(body.children).toSorted(byStart)) this.frame(child, childPlace(child, place));
  }

  #call(call: CallRecord, body: Body, { path, base }: Place): void {
    const name = relative(call.callId, base);
    const { startOrder: start, answerOrder: answer, endOrder: end, meta } = call;
    const { durationMs, stream, ...known }: CallMeta = meta ?? {};
    const timed: CallMeta = {
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(stream === undefined ? {} : { stream }),
    };
    this.timing.push({
      frame: path,
      call: name,
      start,
      ...(answer === undefined ? {} : { answer }),
      ...(end === undefined ? {} : { end }),
      ...(isEmpty(timed) ? {} : { meta: timed }),
    });
    const line: CallLine = {
      frame: path,
      call: name,
      ...(name.startsWith(`${call.kind}:`) && !call.kind.includes(":") ? {} : { kind: call.kind }),
      hash: call.contentHash,
      ...(call.request === undefined ? {} : { request: this.#request(call.request, body.calls, base) }),
      ...outcomeOf(call, body),
      ...marksOf(call),
      ...(isEmpty(known) ? {} : { meta: known }),
    };
    this.lines.push(line);
  }

  #request(request: KeptRequest, calls: readonly CallRecord[], base: string): RequestLine {
    if ("document" in request) return { document: this.#texts[request.document] };
    const earlier = request.base === undefined ? undefined : calls[request.base];
    const before = earlier?.request !== undefined && !("document" in earlier.request) ? earlier.request : undefined;
    const messages = request.add.map((at) => this.#texts[at]);
    const changed = REQUEST_PARTS.filter((part) => request[part] !== undefined && request[part] !== before?.[part]);
    const without = REQUEST_PARTS.filter((part) => request[part] === undefined && before?.[part] !== undefined);
    return {
      ...(earlier === undefined ? {} : { after: relative(earlier.callId, base) }),
      messages,
      ...Object.fromEntries(changed.map((part) => [part, this.#texts[request[part] as number]])),
      ...(without.length === 0 ? {} : { without }),
    };
  }

  #end(frame: AgentFrameSnapshot, { path }: Place): void {
    const { state, outputTypes, memory, budgetState } = frame;
    const used = budgetState.aggregate.callCount > 0 || budgetState.aggregate.items.length > 0;
    const line: EndLine = {
      end: path,
      status: state.status,
      ...("output" in state ? { output: state.output } : {}),
      ...(outputTypes === undefined ? {} : { outputTypes }),
      ...(state.error === undefined ? {} : { error: withoutStack(state.error as ErrorInfo) }),
      ...(isEmpty(memory) ? {} : { memory }),
      ...(used ? { budget: budgetState } : {}),
      ...marksOf(frame),
    };
    if (path !== "root" || line.memory !== undefined || line.budget !== undefined) this.lines.push(line);
  }
}

function outcomeOf(call: CallRecord, { journal }: Body): Partial<CallLine> {
  const types = call.types === undefined ? {} : { types: call.types };
  if (call.row === true) {
    const { prompt, tool, other = {} } = journal;
    const rows = call.kind === "prompt" ? prompt : call.kind === "tool" ? tool : (other[call.kind] ?? {});
    const row = rows[call.contentHash];
    if (row !== undefined) return row.error === undefined ? { output: row.output, ...types } : { tombstone: row.error };
  }
  if (call.tombstone !== undefined) return { tombstone: call.tombstone };
  if (call.error !== undefined) return { error: withoutStack(call.error) };
  return call.endOrder === undefined ? { pending: true } : { output: call.output, ...types };
}

/** Paths and line numbers of one machine, which no other needs. */
function withoutStack({ stack: _stack, cause, errors, ...info }: ErrorInfo): ErrorInfo {
  return {
    ...info,
    ...(cause === undefined ? {} : { cause: withoutStack(cause) }),
    ...(errors === undefined ? {} : { errors: errors.map(withoutStack) }),
  };
}

function childPlace(child: AgentFrameSnapshot, { path, base }: Place): Place {
  const own = `${path}/${relative(child.callId, base)}`;
  // A run's frame is the root of what is in it.
  return { path: own, base: child.agentId === "" ? "root" : child.callId };
}

function relative(callId: string, base: string): string {
  return callId.startsWith(`${base}/`) ? callId.slice(base.length + 1) : callId;
}

function byStart(left: AgentFrameSnapshot, right: AgentFrameSnapshot): number {
  return (left.startOrder ?? 0) - (right.startOrder ?? 0);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}
