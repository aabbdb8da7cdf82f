import { native, type NativeTextSink } from "../native.js";
import { restoredFields } from "./project-events.js";
import { pushText } from "./text-pieces.js";

/** Events as columns, the arguments of `restoreTable` in the binding. */
export interface EventTable {
  readonly heads: Uint32Array;
  readonly numbers: Float64Array;
  readonly types: string;
  readonly spans: string;
  readonly traces: string;
  readonly values: NativeTextSink;
}

/** An absent parent or trace. */
const NONE = 0xffff_ffff;
/** Not one particular event. */
const UNSURE = -1;
const HEAD = 5;
const TRACE = 3;

/** Values per call of `JSON.stringify`. One call per value would cost more than the writing itself. */
const LIST = 512;

interface Kind {
  readonly index: number;
  readonly names: readonly string[];
  readonly always: number;
  readonly isStart: boolean;
  /** For the end of a span, the index of the type of its start. */
  readonly start: number;
}

type Fields = Record<string, unknown>;
type Head = Fields & { type?: unknown; timestamp?: unknown; _seq?: unknown; trace?: unknown };
type Ref = { traceId?: unknown; spanId?: unknown; parentSpanId?: unknown };

/**
 * The fields that a restore reads, as a table. Each value is contained once: the end of a span does not repeat values of
 * its start, and the end of a tool batch does not repeat the outputs of its calls.
 * @returns `undefined` if an element is not an event or not JSON.
 */
export function eventTable(events: readonly unknown[]): EventTable | undefined {
  try {
    // Events nearly always have sequence numbers. If one lacks its number, the core determines the order.
    return new Table(events, true).write() ?? new Table(events, false).write();
  } catch {
    return undefined;
  }
}

class Table {
  private readonly events: readonly unknown[];
  /** True if all events must have a sequence number. */
  private readonly isOrdered: boolean;
  private readonly heads: Uint32Array;
  private readonly numbers: Float64Array;
  private readonly kinds = new Map<string, Kind>();
  private readonly spans = new Names();
  private readonly traces = new Names();
  /** By span: the event that starts it, and the end of a tool call whose start is known. */
  private readonly starts: (number | undefined)[] = [];
  private readonly toolEnds: (number | undefined)[] = [];
  private readonly sink: NativeTextSink;
  private values: unknown[] = [];

  constructor(events: readonly unknown[], isOrdered: boolean) {
    this.events = events;
    this.isOrdered = isOrdered;
    this.heads = new Uint32Array(events.length * HEAD);
    this.numbers = new Float64Array(events.length * 2);
    // An estimate; the sink grows.
    this.sink = new native.TextSink(events.length * 256);
  }

  write(): EventTable | undefined {
    const { events, isOrdered, heads, numbers, spans, traces, sink } = this;
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index] as Head;
      const { type, timestamp, _seq, trace } = event;
      if (typeof type !== "string" || type === "gap" || typeof trace !== "object" || trace === null) return undefined;
      if (isOrdered && typeof _seq !== "number") return undefined;
      const { traceId, spanId, parentSpanId } = trace as Ref;
      if (typeof spanId !== "string") return undefined;
      const parent = typeof parentSpanId === "string" && parentSpanId !== "" ? spans.repeated(parentSpanId) : NONE;
      const span = spans.indexOf(spanId);
      const kind = this.kind(type);
      const at = index * HEAD;
      heads[at] = kind.index;
      heads[at + 1] = span;
      heads[at + 2] = parent;
      heads[at + TRACE] = typeof traceId === "string" ? traces.repeated(traceId) : NONE;
      numbers[index * 2] = typeof timestamp === "number" && Number.isFinite(timestamp) ? timestamp : Number.NaN;
      numbers[index * 2 + 1] = typeof _seq === "number" && Number.isFinite(_seq) ? _seq : Number.NaN;
      const isAfterStart = isOrdered && kind.start !== NONE && this.follows(index, this.starts[span], kind.start);
      const start = isAfterStart ? (events[this.starts[span] as number] as Fields) : undefined;
      heads[at + 4] = this.fields(index, event, kind, start);
      if (kind.isStart) this.noteStart(index, span, kind);
      else if (isAfterStart && type === "tool:call:end") this.toolEnds[span] ??= index;
      if (this.values.length >= LIST) this.flush();
    }
    this.flush();
    const types = [...this.kinds.keys()];
    const [typeNames, spanNames, traceNames] = [types, spans.list, traces.list].map((list) => JSON.stringify(list));
    return {
      heads,
      numbers,
      types: typeNames as string,
      spans: spanNames as string,
      traces: traceNames as string,
      values: sink,
    };
  }

  /** The first start of a span counts. A span with starts of several types is ambiguous. */
  private noteStart(index: number, span: number, kind: Kind): void {
    const first = this.starts[span];
    if (first === undefined) this.starts[span] = index;
    else if (this.heads[first * HEAD] !== kind.index) this.starts[span] = UNSURE;
  }

  /** Adds the values that no earlier event contains. Returns a bit mask of their fields. */
  private fields(index: number, event: Fields, kind: Kind, start: Fields | undefined): number {
    const { names } = kind;
    const count = start === undefined ? names.length : kind.always;
    let present = 0;
    for (let field = 0; field < count; field += 1) {
      const name = names[field] as string;
      let value = event[name];
      if (value === undefined || value === null) {
        if (value === undefined) continue;
      } else if (typeof value === "object") {
        if (name === "toolResults" && this.isOrdered) value = this.newRows(index, value);
        // The total is read only if the difference is absent.
        else if (name === "own" && event["delta"] !== undefined) continue;
        else if (typeof (value as Fields)["toJSON"] === "function") value = asJson(value, name);
        if (value === undefined) continue;
      } else if (typeof value === "function" || typeof value === "symbol") continue;
      else if (name === "contentHash" && value === start?.[name]) continue;
      present |= 1 << field;
      this.values.push(value);
    }
    return present;
  }

  /** The rows of a batch whose calls have no end event before it. */
  private newRows(index: number, rows: object): unknown {
    if (!Array.isArray(rows)) return rows;
    const end = this.kinds.get("tool:call:end")?.index ?? NONE;
    const added = rows.filter((row: { spanId?: unknown } | null | undefined) => {
      const span = typeof row?.spanId === "string" ? this.spans.find(row.spanId) : undefined;
      return span === undefined || !this.follows(index, this.toolEnds[span], end);
    });
    return added.length === 0 ? undefined : added;
  }

  /** True if the event at `earlier` has this type and trace and precedes the event: a restore that reads one reads both. */
  private follows(index: number, earlier: number | undefined, kind: number): boolean {
    if (earlier === undefined) return false;
    const { heads, numbers } = this;
    return (
      heads[earlier * HEAD] === kind &&
      heads[earlier * HEAD + TRACE] === heads[index * HEAD + TRACE] &&
      (numbers[earlier * 2 + 1] as number) < (numbers[index * 2 + 1] as number)
    );
  }

  private kind(type: string): Kind {
    let kind = this.kinds.get(type);
    if (kind === undefined) {
      const { names, always } = restoredFields(type);
      const start = type.endsWith(":end") ? this.kind(`${type.slice(0, -":end".length)}:start`).index : NONE;
      kind = { index: this.kinds.size, names, always, isStart: type.endsWith(":start"), start };
      this.kinds.set(type, kind);
    }
    return kind;
  }

  private flush(): void {
    pushText(this.sink, JSON.stringify(this.values));
    this.values = [];
  }
}

/** The value as JSON has it under this name; `toJSON` may return `undefined`. */
function asJson(value: unknown, name: string): unknown {
  return (JSON.parse(JSON.stringify({ [name]: value })) as Fields)[name];
}

/** Strings by index, in the order of their first use. */
class Names {
  readonly list: string[] = [];
  private readonly indices = new Map<string, number>();
  private last = "";
  private lastIndex = NONE;

  indexOf(name: string): number {
    let index = this.indices.get(name);
    if (index === undefined) {
      index = this.list.push(name) - 1;
      this.indices.set(name, index);
    }
    return index;
  }

  /** As `indexOf`, faster if consecutive names are equal. */
  repeated(name: string): number {
    if (name !== this.last || this.lastIndex === NONE) {
      this.last = name;
      this.lastIndex = this.indexOf(name);
    }
    return this.lastIndex;
  }

  find(name: string): number | undefined {
    return this.indices.get(name);
  }
}
