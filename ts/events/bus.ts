// Hands events to whoever listens.

import type { TraceEvent, TraceEventOf, TraceEventType } from "../types/events.js";

export type EventCallback<Type extends TraceEventType | "*"> = (
  event: Type extends TraceEventType ? TraceEventOf<Type> : TraceEvent,
) => void;

/** Ends a subscription. */
export type Unsubscribe = () => void;

export interface EventBus {
  /** Whether anybody listens; without listeners nobody needs to build events. */
  readonly hasSubscribers: boolean;
  /** Calls `callback` for every event of a type, or of all with "*". */
  subscribe<Type extends TraceEventType | "*">(type: Type, callback: EventCallback<Type>): Unsubscribe;
  /** The same for the next event only. */
  subscribeOnce<Type extends TraceEventType | "*">(type: Type, callback: EventCallback<Type>): Unsubscribe;
  /** The same for several types. */
  subscribeMany<Type extends TraceEventType>(types: readonly Type[], callback: EventCallback<Type>): Unsubscribe;
  /**
   * Calls the subscribers before it returns, in the order in which they subscribed. Who subscribes meanwhile gets the
   * next event; who unsubscribes meanwhile gets nothing more. Never throws.
   */
  emit(event: TraceEvent): void;
  /** Ends all subscriptions. */
  reset(): void;
}

export interface EventBusOptions {
  /**
   * Told what a subscriber threw, or its promise was rejected with. By default the first error of each subscriber is
   * shown by `console.warn`.
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

/** Makes a bus. Its functions need no `this`. */
export function createEventBus({ onError }: EventBusOptions = {}): EventBus {
  // Replaced, never changed: an emit under way goes on with the list that it began with.
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
        // Nobody is left to be told.
      }
      return;
    }
    if (subscription.failed) return;
    subscription.failed = true;
    console.warn(
      `agent-rewind: a subscriber failed at the event "${event.type}"; its further errors are not shown.`,
      error,
    );
  };

  const deliver = (subscription: Subscription, event: TraceEvent): void => {
    if (subscription.once) remove(subscription);
    try {
      const result = subscription.callback(event);
      // A rejection that nobody handles would end the process.
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

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

// Two copies of the package in one process share the bus.
const KEY = Symbol.for("agent-rewind/event-bus@1");
const shared = globalThis as { [KEY]?: EventBus };

/** The bus that runs without an `eventBus` of their own emit to. One per process. */
export function getGlobalEventBus(): EventBus {
  return (shared[KEY] ??= createEventBus());
}
