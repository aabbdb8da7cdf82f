import type { TraceEvent, TraceEventOf, TraceEventType } from "../types/events.js";
import { isThenable } from "../values/thenable.js";
import { warn } from "../errors/printable.js";

export type EventCallback<Type extends TraceEventType | "*"> = (
  event: Type extends TraceEventType ? TraceEventOf<Type> : TraceEvent,
) => void;

/** Ends a subscription. */
export type Unsubscribe = () => void;

export interface EventBus {
  /** True if there are subscribers. Without subscribers, events need not be built. */
  readonly hasSubscribers: boolean;
  /** Calls `callback` for every event of a type, or for all events with "*". */
  subscribe<Type extends TraceEventType | "*">(type: Type, callback: EventCallback<Type>): Unsubscribe;
  /** Like `subscribe`, for the next event only. */
  subscribeOnce<Type extends TraceEventType | "*">(type: Type, callback: EventCallback<Type>): Unsubscribe;
  /** Like `subscribe`, for several types. */
  subscribeMany<Type extends TraceEventType>(types: readonly Type[], callback: EventCallback<Type>): Unsubscribe;
  /**
   * Calls the subscribers synchronously, in the order of subscription. A subscriber added during an `emit` receives only
   * later events; one that is removed receives nothing more. Never throws.
   */
  emit(event: TraceEvent): void;
  /** Ends all subscriptions. */
  reset(): void;
}

export interface EventBusOptions {
  /**
   * Receives an error that a subscriber threw, or the reason for which its promise was rejected. By default the first
   * error of each subscriber is printed by `console.warn`.
   */
  onError?: (error: unknown, event: TraceEvent) => void;
}

interface Subscription {
  readonly types: ReadonlySet<string> | undefined;
  readonly callback: (event: TraceEvent) => unknown;
  readonly once: boolean;
  active: boolean;
  failed: boolean;
}

/** Creates an event bus. Its functions need no `this`. */
export function createEventBus(options: EventBusOptions = {}): EventBus {
  if (typeof options !== "object" || options === null)
    throw new TypeError(`createEventBus: options must be an object, received ${String(options)}`);
  const { onError } = options;
  // Replaced, never mutated, so that an emit in progress keeps its list.
  let subscriptions: readonly Subscription[] = [];

  const add = (types: Iterable<string>, callback: unknown, once = false): Unsubscribe => {
    const wanted = new Set(types);
    const subscription: Subscription = {
      types: wanted.has("*") ? undefined : wanted,
      callback: callback as Subscription["callback"],
      once,
      active: true,
      failed: false,
    };
    subscriptions = [...subscriptions, subscription];
    return () => remove(subscription);
  };

  const remove = (subscription: Subscription): void => {
    subscription.active = false;
    subscriptions = subscriptions.filter((other) => other !== subscription);
  };

  const report = (subscription: Subscription, error: unknown, event: TraceEvent): void => {
    if (onError !== undefined) {
      try {
        onError(error, event);
      } catch {
        // There is nowhere left to report it.
      }
      return;
    }
    if (subscription.failed) return;
    subscription.failed = true;
    warn(`a subscriber failed on the event "${event.type}". Its further errors are not shown.`, error);
  };

  const deliver = (subscription: Subscription, event: TraceEvent): void => {
    if (subscription.once) remove(subscription);
    try {
      const result = subscription.callback(event);
      // An unhandled rejection would end the process.
      if (isThenable(result)) result.then(undefined, (error: unknown) => report(subscription, error, event));
    } catch (error) {
      report(subscription, error, event);
    }
  };

  return {
    get hasSubscribers(): boolean {
      return subscriptions.length > 0;
    },
    subscribe: (type, callback) => add([type], callback),
    subscribeOnce: (type, callback) => add([type], callback, true),
    subscribeMany: (types, callback) => add(types, callback),
    emit(event) {
      for (const subscription of subscriptions) {
        if (subscription.active && (subscription.types?.has(event.type) ?? true)) deliver(subscription, event);
      }
    },
    reset() {
      for (const subscription of subscriptions) subscription.active = false;
      subscriptions = [];
    },
  };
}

// A registered symbol, so that several copies of the package in one process share the bus.
const KEY = Symbol.for("agent-rewind/event-bus@1");
const shared = globalThis as { [KEY]?: EventBus };

/** Returns the bus of runs without an `eventBus` option. There is one per process. */
export function getGlobalEventBus(): EventBus {
  return (shared[KEY] ??= createEventBus());
}
