import { native, type NativeTextSink } from "../native.js";
import { restoredFields } from "./restored-fields.js";
import { pushText } from "./text-pieces.js";

/** Events in columns, as `restoreTable` of the binding expects them. */
export interface EventTable {
  readonly heads: Uint32Array;
  readonly numbers: Float64Array;
  readonly types: string;
  readonly spans: string;
  readonly traces: string;
  readonly values: NativeTextSink;
}

/** No parent, no trace. */
const NONE = 0xffff_ffff;
/** No event. */
const UNSURE = -1;
const HEAD = 5;
const TRACE = 3;

/** Values per call of `JSON.stringify`: one call for each value would cost more than the writing. */
const LIST = 512;

interface Kind {
  readonly index: number;
  readonly names: readonly string[];
  readonly always: number;
  readonly isStart: boolean;
  /** For the end of a span: index of the type of its start. */
  readonly start: number;
}

type Fields = Record<string, unknown>;
type Head = Fields & { type?: unknown; timestamp?: unknown; _seq?: unknown; trace?: unknown };
type Ref = { traceId?: unknown; spanId?: unknown; parentSpanId?: unknown };

/**
 * The events as a table of the fields that restoring reads. The table contains each value once: the end of a span omits
 * values of its start, and the end of a batch omits outputs of its tool calls.
 * @returns `undefined` if an element is not an event, or not JSON.
 */
export function eventTable(events: readonly unknown[]): EventTable | undefined {
  try {
    // Nearly all events have `_seq`. Without it, only the core can find the order, so no values are omitted.
    return new Table(events, true).write() ?? new Table(events, false).write();
  } catch {
    return undefined;
  }
}

class Table {
  private readonly events: readonly unknown[];
  /** True if all events must have `_seq`. */
  private readonly isOrdered: boolean;
  private readonly heads: Uint32Array;
  private readonly numbers: Float64Array;
  private readonly kinds = new Map<string, Kind>();
  private readonly spans = new Names();
  private readonly traces = new Names();
  /** By span: the event that starts it, and the end of a tool call that has a start. */
  private readonly starts: (number | undefined)[] = [];
  private readonly toolEnds: (number | undefined)[] = [];
  private readonly sink: NativeTextSink;
  private values: unknown[] = [];

  constructor(events: readonly unknown[], isOrdered: boolean) {
    this.events = events;
    this.isOrdered = isOrdered;
    this.heads = new Uint32Array(events.length * HEAD);
    this.numbers = new Float64Array(events.length * 2);
    // An estimate; the sink grows for large outputs.
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

  /** The first start of a span counts. A span with starts of several types is marked as unsure. */
  private noteStart(index: number, span: number, kind: Kind): void {
    const first = this.starts[span];
    if (first === undefined) this.starts[span] = index;
    else if (this.heads[first * HEAD] !== kind.index) this.starts[span] = UNSURE;
  }

  /** Adds the values of fields that no earlier event contains. Returns a bit mask of the added fields. */
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
        if (name === "toolResults" && this.isOrdered) value = this.missingRows(index, value);
        // The total is read only if the difference is missing.
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

  /** The rows of a batch whose tool calls have no end event before it. */
  private missingRows(index: number, rows: object): unknown {
    if (!Array.isArray(rows)) return rows;
    const end = this.kinds.get("tool:call:end")?.index ?? NONE;
    const missing = rows.filter((row: { spanId?: unknown } | null | undefined) => {
      const span = typeof row?.spanId === "string" ? this.spans.find(row.spanId) : undefined;
      return span === undefined || !this.follows(index, this.toolEnds[span], end);
    });
    return missing.length === 0 ? undefined : missing;
  }

  /** True if the event at `index` follows the event at `earlier`, which must be of this type and of the same trace. */
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

/** The JSON form of a field, whose `toJSON` may return nothing. */
function asJson(value: unknown, name: string): unknown {
  return (JSON.parse(JSON.stringify({ [name]: value })) as Fields)[name];
}

/** Assigns an index to each string, in the order of their first use. */
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

  /** Like `indexOf`, for names that are often equal to the name before. */
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
