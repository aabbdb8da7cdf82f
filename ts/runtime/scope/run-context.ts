import { AsyncLocalStorage } from "node:async_hooks";

import { AbortError, ContextNotFoundError } from "../../errors/index.js";
import type { Generation } from "./generation.js";
import type { OuterCall } from "./outer-call.js";
import type { Scope } from "./scope.js";

// Two copies of the package in one process (ESM and CommonJS, two versions) share the context.
const KEY = Symbol.for("agent-rewind/context@1");
const shared = globalThis as { [KEY]?: AsyncLocalStorage<RunContext> };

export const storage: AsyncLocalStorage<RunContext> = (shared[KEY] ??= new AsyncLocalStorage<RunContext>());

const PROCESS_KEY = Symbol.for("agent-rewind/process-context@1");
const ofProcess = globalThis as { [PROCESS_KEY]?: RunContext };

/** Sets the context of all code that runs outside of runs. */
export function setProcessContext(context: RunContext | undefined): void {
  if (context === undefined) delete ofProcess[PROCESS_KEY];
  else ofProcess[PROCESS_KEY] = context;
}

/** In place of a context: a wrapper sends a message outside of all runs. */
export const TRANSPORT_OUTSIDE = { isTransport: true } as RunContext;

/** Leads to the last call that code has asked. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type
export interface LastCall {}

/** Where the code runs in a frame. */
interface Place {
  readonly generation?: Generation;
  readonly outerCall?: OuterCall | undefined;
  readonly outerCalls?: number;
  readonly isTransport?: boolean;
  readonly lastCall?: LastCall | undefined;
}

/** The position of the code in a run: its frame, and the span that is the parent of new spans. */
export class RunContext {
  /** @internal */
  readonly scope: Scope;
  /** @internal The generation that the code belongs to. */
  readonly generation: Generation;
  /** @internal The innermost call of the frame that the code executes. */
  readonly outerCall: OuterCall | undefined;
  /** @internal Number of calls of the frame that the code executes, each inside the other. */
  readonly outerCalls: number;
  /** @internal True if the code sends the request of that call: adapters pass what it sends through. */
  readonly isTransport: boolean;
  /** @internal By it the retry of a client is recognized. Absent before the first call. */
  readonly lastCall: LastCall | undefined;
  readonly #spanId: string;

  /** @internal */
  constructor(
    scope: Scope,
    spanId: string,
    { generation = scope.generation, outerCall, outerCalls = 0, isTransport = false, lastCall }: Place = {},
  ) {
    this.scope = scope;
    this.outerCall = outerCall;
    this.outerCalls = outerCalls;
    this.isTransport = isTransport;
    this.lastCall = lastCall;
    this.#spanId = spanId;
    this.generation = generation;
  }

  /** @internal The same place, in another span. */
  inSpan(spanId: string): RunContext {
    return new RunContext(this.scope, spanId, this);
  }

  /** @internal The place inside a call of the frame. */
  inside(outerCall: OuterCall, spanId: string, isTransport: boolean): RunContext {
    const { generation, outerCalls } = this;
    return new RunContext(this.scope, spanId, { generation, outerCall, outerCalls: outerCalls + 1, isTransport });
  }

  /** @internal The same place, while it sends the request of its call. */
  asTransport(): RunContext {
    const { generation, outerCall, outerCalls } = this;
    return new RunContext(this.scope, this.#spanId, { generation, outerCall, outerCalls, isTransport: true });
  }

  /** @internal The callId of the call that what the code asks belongs to. None under the rules of older recordings. */
  get within(): string | undefined {
    return this.outerCall !== undefined && this.scope.rules.innerCalls ? this.outerCall.callId : undefined;
  }

  /** @internal True if the agent was reborn: the code was left running by an earlier generation. */
  get isStale(): boolean {
    return this.generation !== this.scope.generation;
  }

  /**
   * @internal
   * @throws AbortError once the agent was aborted or reborn.
   */
  throwIfAborted(): void {
    this.scope.throwIfAborted();
    if (this.isStale) throw new AbortError(`the agent "${this.agentId}" was reborn before this call`);
  }

  /** @internal The same context for the code after a call. */
  after(lastCall: LastCall): RunContext {
    const { generation, outerCall, outerCalls, isTransport } = this;
    return new RunContext(this.scope, this.#spanId, { generation, outerCall, outerCalls, isTransport, lastCall });
  }

  /** Path of the frame, such as `root/agent:writer:0`. */
  get callId(): string {
    return this.scope.callId;
  }

  /** Id of the agent; empty in the frame of `runWith`. */
  get agentId(): string {
    return this.scope.agentId;
  }

  /** Number of agents around the code: 0 in the frame of `runWith`. */
  get depth(): number {
    return this.scope.depth;
  }

  /** Aborts when the agent must stop. Pass it to models and tools, so that they stop too. */
  get signal(): AbortSignal {
    return this.scope.signal;
  }

  /** Ids of the trace (32 hex digits) and of the span that the code runs in (16 hex digits). */
  get trace(): { readonly traceId: string; readonly spanId: string } {
    return { traceId: this.scope.run.emitter.traceId, spanId: this.#spanId };
  }

  /** True if the run is journaled and can be dumped. */
  get enableSnapshot(): boolean {
    return this.scope.run.recording;
  }

  /** A copy of the agent's memory. */
  get memory(): Map<string, unknown> {
    return this.scope.memory.copy();
  }

  /** Calls `fn` in this context. */
  run<R>(fn: () => R): R {
    return storage.run(this, fn);
  }

  /**
   * Returns a function that calls `fn` in this context. For callbacks that lose it: callbacks of native code,
   * `ReadableStream.pull`, and generators that are iterated elsewhere.
   */
  bind<A extends unknown[], R>(fn: (...args: A) => R): (...args: A) => R {
    return (...args) => storage.run(this, () => fn(...args));
  }
}

/** @deprecated Use {@link RunContext}. */
export type Context = RunContext;

/** The context that the code runs in, or `undefined` outside of runs and agents. */
export function getContext(): RunContext | undefined {
  const context = storage.getStore() ?? ofProcess[PROCESS_KEY];
  // Not compared with TRANSPORT_OUTSIDE, because another copy of the package has another object.
  return context !== undefined && "scope" in context ? context : undefined;
}

/**
 * The context that the code runs in. Keep it to call functions in it later.
 * @throws ContextNotFoundError outside of runs and agents.
 */
export function captureContext(): RunContext {
  return requireContext("captureContext");
}

/** @internal */
export function requireContext(apiName: string): RunContext {
  const context = getContext();
  if (context === undefined) throw new ContextNotFoundError(apiName);
  return context;
}
