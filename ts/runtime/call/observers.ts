// The observers of model calls, and the model call that the current code runs in.

import { AsyncLocalStorage } from "node:async_hooks";

import type { StartedCall } from "./started-call.js";

/** A model call, before its request is sent or its recorded answer is returned. */
export interface ModelCall {
  /** `"prompt"`, or the kind of a journaled call. */
  readonly kind: string;
  /** Id of the model, or the name of the journaled call. */
  readonly name: string;
  readonly callId: string;
  readonly contentHash: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly agentId: string;
  readonly replayed: boolean;
  /** The request document as JSON text. */
  readonly document: () => string;
}

export interface ModelCallObserver {
  /** If it throws or its promise is rejected, the call fails with that error. */
  before(call: ModelCall): Promise<void> | undefined;
  /** Called at the end of a live call. */
  after(call: ModelCall): void;
}

interface Shared {
  readonly observers: Set<ModelCallObserver>;
  readonly current: AsyncLocalStorage<ModelCall>;
}

// Two copies of the package in one process share them, as they share the context.
const KEY = Symbol.for("agent-rewind/model-calls@1");
const holder = globalThis as { [KEY]?: Shared };
const shared: Shared = (holder[KEY] ??= { observers: new Set(), current: new AsyncLocalStorage<ModelCall>() });

/** A call of a model, in the form that observers receive. */
export function modelCall(call: StartedCall, spanId: string, document: () => string): Omit<ModelCall, "replayed"> {
  const { kind, name, callId, contentHash, scope } = call;
  return {
    kind,
    name,
    callId,
    contentHash,
    traceId: scope.run.emitter.traceId,
    spanId,
    agentId: scope.agentId,
    document,
  };
}

/** Returns a function that removes the observer. */
export function observeModelCalls(observer: ModelCallObserver): () => void {
  shared.observers.add(observer);
  return () => {
    shared.observers.delete(observer);
  };
}

/** The model call that the current code runs in. */
export function currentModelCall(): ModelCall | undefined {
  return shared.current.getStore();
}

/** Calls all observers in turn. Returns a promise only if one of them must be awaited. */
function announce(call: ModelCall): Promise<void> | undefined {
  let waiting: Promise<void> | undefined;
  for (const observer of shared.observers) {
    if (waiting === undefined) waiting = observer.before(call);
    else waiting = waiting.then(() => observer.before(call));
  }
  return waiting;
}

/** Announces a call that is answered from a recording. */
export function announceReplay(call: () => Omit<ModelCall, "replayed">): Promise<void> | undefined {
  return shared.observers.size === 0 ? undefined : announce({ ...call(), replayed: true });
}

/** Announces a call and executes it. */
export function makeObserved<T>(call: () => Omit<ModelCall, "replayed">, make: () => T | Promise<T>): T | Promise<T> {
  if (shared.observers.size === 0) return make();
  return observed({ ...call(), replayed: false }, make);
}

async function observed<T>(call: ModelCall, make: () => T | Promise<T>): Promise<T> {
  await announce(call);
  try {
    return await shared.current.run(call, make);
  } finally {
    for (const observer of shared.observers) observer.after(call);
  }
}
