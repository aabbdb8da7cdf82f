import { callMarksOf, marksOf } from "../snapshot/marks.js";
import { checkSnapshot } from "../snapshot/open.js";
import {
  baseOf,
  nameIn,
  ReadModel,
  type ListedCall,
  type ListedFrame,
  type ListedGeneration,
} from "../snapshot/read-model.js";
import type { AgentSnapshot, CallMeta, ErrorInfo } from "../types/snapshot.js";
import type { CallLine, EndLine, FrameLine, Line, RequestLine, SharedFrom, TimingLine } from "./lines.js";

/** A snapshot as lines: the calls with their outcomes, and separately their timing. */
export interface RecordingLines {
  readonly lines: Line[];
  readonly timing: TimingLine[];
}

export function toLines(snapshot: AgentSnapshot): RecordingLines {
  const model = new ReadModel(checkSnapshot(snapshot).handle);
  const writer = new Writer(model);
  writer.frame(model.root, { path: "root", base: "root", above: "root" });
  return writer;
}

/** The path of a frame in the recording, and the prefix of the callIds in it. */
interface Place {
  readonly path: string;
  readonly base: string;
  /** The prefix of the callIds in the frame above. */
  readonly above: string;
}

class Writer implements RecordingLines {
  readonly lines: Line[] = [];
  readonly timing: TimingLine[] = [];
  readonly #model: ReadModel;
  /** The lines of the requests so far, by the number of the request. */
  readonly #requests = new Map<number, { frame: string; call: string }>();

  constructor(model: ReadModel) {
    this.#model = model;
  }

  /** Recursive, because the nesting of agents is limited. */
  frame(frame: ListedFrame, place: Place): void {
    const { startOrder, endOrder } = frame;
    if (startOrder !== undefined && place.path !== "root") {
      this.timing.push({ frame: place.path, start: startOrder, ...(endOrder === undefined ? {} : { end: endOrder }) });
    }
    for (const generation of frame.generations) {
      const { id } = generation;
      // Occurrences start at 0 in each generation, so the path needs its number.
      this.#generation(frame, generation, id === 0 ? place : { ...place, path: `${place.path}#${id}` });
    }
    this.#end(frame, place);
  }

  #generation(frame: ListedFrame, generation: ListedGeneration, place: Place): void {
    const { id, props, propsTypes, memory = {}, calls } = generation;
    const line: FrameLine = {
      frame: place.path,
      ...(frame.agentId === "" ? {} : { agent: frame.agentId }),
      ...(frame.within === undefined || id > 0 ? {} : { within: nameIn(place.above, frame.within) }),
      ...(frame.inputHash === undefined || place.path === "root" ? {} : { input: frame.inputHash }),
      ...(id === 0 ? {} : { generation: id }),
      ...(props === undefined || isEmpty(props) ? {} : { props }),
      ...(propsTypes === undefined ? {} : { propsTypes }),
      ...(isEmpty(memory) ? {} : { memory }),
    };
    // The frame of the recording itself is implied.
    if (place.path !== "root" || Object.keys(line).length > 1) this.lines.push(line);
    for (const call of calls) this.#call(call, place);
    for (const child of this.#model.childrenOf(generation).toSorted(byStart))
      this.frame(child, childPlace(child, place));
  }

  #call(call: ListedCall, { path, base }: Place): void {
    const { callId, within, startOrder: start, answerOrder: answer, endOrder: end, meta } = call;
    // Journal rows without a call occur only in old dumps, which are never written as recordings.
    if (callId === undefined || start === undefined) return;
    const name = nameIn(base, callId);
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
      ...(within === undefined ? {} : { within: nameIn(base, within) }),
      hash: call.contentHash,
      ...this.#request(call, path, name),
      ...outcomeOf(call),
      ...callMarksOf(call),
      ...(isEmpty(known) ? {} : { meta: known }),
    };
    this.lines.push(line);
  }

  #request(call: ListedCall, frame: string, name: string): { request?: RequestLine } {
    const request = this.#model.sharedRequest(call);
    if (request === undefined) return {};
    this.#requests.set(call.request as number, { frame, call: name });
    const { document, shared } = request;
    if (shared === undefined) return { request: { document } };
    const parts = Object.entries(shared).map(([pointer, part]): [string, SharedFrom] => {
      const from = this.#requests.get(part.request) as { frame: string; call: string };
      return [
        pointer,
        {
          ...(from.frame === frame ? {} : { frame: from.frame }),
          call: from.call,
          ...(part.pointer === pointer ? {} : { pointer: part.pointer }),
          ...(part.keep === undefined ? {} : { keep: part.keep }),
        },
      ];
    });
    return { request: { document, shared: Object.fromEntries(parts) } };
  }

  #end(frame: ListedFrame, { path }: Place): void {
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

function outcomeOf({ output, types, tombstone, error, endOrder }: ListedCall): Partial<CallLine> {
  if (tombstone !== undefined) return { tombstone };
  if (error !== undefined) return { error: withoutStack(error) };
  return endOrder === undefined ? { pending: true } : { output, ...(types === undefined ? {} : { types }) };
}

/** Stacks contain paths of one machine, so they are left out. */
function withoutStack({ stack: _stack, cause, errors, ...info }: ErrorInfo): ErrorInfo {
  return {
    ...info,
    ...(cause === undefined ? {} : { cause: withoutStack(cause) }),
    ...(errors === undefined ? {} : { errors: errors.map(withoutStack) }),
  };
}

function childPlace(child: ListedFrame, { path, base }: Place): Place {
  return { path: `${path}/${nameIn(base, child.callId)}`, base: baseOf(child), above: base };
}

function byStart(left: ListedFrame, right: ListedFrame): number {
  return (left.startOrder ?? 0) - (right.startOrder ?? 0);
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}
