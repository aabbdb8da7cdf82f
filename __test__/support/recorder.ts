import type { EventSink, TraceEvent, TraceEventOf, TraceEventType } from "agent-rewind";

/** A sink that keeps all events. */
export interface Recorder extends EventSink {
  readonly events: TraceEvent[];
  /** The events of one type, in order. */
  of<Type extends TraceEventType>(type: Type): TraceEventOf<Type>[];
}

export function recorder(): Recorder {
  const events: TraceEvent[] = [];
  return {
    events,
    emit: (event) => void events.push(event),
    of: <Type extends TraceEventType>(type: Type) =>
      events.filter((event): event is TraceEventOf<Type> => event.type === type),
  };
}

/** The tree of spans, one per line in the order of their first events, indented by depth. */
export function spanTree(events: readonly TraceEvent[]): string[] {
  const spans = new Map<string, { label: string; parent: string; children: string[] }>();
  for (const event of events) {
    const { spanId, parentSpanId } = event.trace;
    if (spans.has(spanId)) continue;
    spans.set(spanId, { label: labelOf(event), parent: parentSpanId, children: [] });
    spans.get(parentSpanId)?.children.push(spanId);
  }
  const lines: string[] = [];
  const write = (spanId: string, depth: number): void => {
    const span = spans.get(spanId);
    if (span === undefined) return;
    lines.push("  ".repeat(depth) + span.label);
    for (const child of span.children) write(child, depth + 1);
  };
  for (const [spanId, { parent }] of spans) if (!spans.has(parent)) write(spanId, 0);
  return lines;
}

function labelOf(event: TraceEvent): string {
  const name = event.type.replace(/:start$/, "");
  switch (event.type) {
    case "agent:start":
      return `${name} ${event.agentId}`;
    case "tool:call:start":
      return `${name} ${event.toolName}`;
    case "call:start":
      return `${name} ${event.kind} ${event.name}`;
    default:
      return name;
  }
}
