import { getGlobalEventBus, type EventBus } from "../events/bus.js";
import { kindOf } from "../errors/received.js";
import type { TraceEvent } from "../types/events.js";
import { dispose } from "../values/dispose.js";

export interface TraceCollection extends Disposable {
  /** The events so far, in the order of emission. */
  readonly events: TraceEvent[];
  /** Ends the collection and returns the events. */
  stop(): TraceEvent[];
}

/** Collects all events of a bus (default: the global bus) in memory, until it is stopped or disposed. */
export function collectTrace(bus: Pick<EventBus, "subscribe"> = getGlobalEventBus()): TraceCollection {
  if (typeof bus?.subscribe !== "function")
    throw new TypeError(`collectTrace: bus must be an event bus, received ${kindOf(bus)}`);
  const events: TraceEvent[] = [];
  const unsubscribe = bus.subscribe("*", (event) => {
    events.push(event);
  });
  return {
    events,
    stop() {
      unsubscribe();
      return events;
    },
    [dispose]: unsubscribe,
  };
}
