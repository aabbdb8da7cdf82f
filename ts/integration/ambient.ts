import { warn } from "../errors/printable.js";
import { markCaller } from "../runtime/call/identity/attempts.js";
import { noteStart } from "../runtime/call/failures/hand-out.js";
import { activeRuns } from "../runtime/scope/active-runs.js";
import { ambientContext as findContext } from "../runtime/scope/ambient.js";
import { callSite } from "../runtime/scope/call-site.js";
import { getContext, storage, TRANSPORT_OUTSIDE, type RunContext } from "../runtime/scope/run-context.js";
import type { RunState } from "../runtime/scope/run-state.js";

/** The run, agent or test that a client's call belongs to. */
export interface AmbientContext {
  /** The field `context` of the call. Its `run` and `bind` call the client's callbacks in the same context. */
  readonly context: RunContext;
  /** "live" executes every call, "resume" executes calls that are not recorded, and "replay" executes none. */
  readonly mode: "live" | "resume" | "replay";
  /** Aborts when the agent must stop. */
  readonly signal: AbortSignal;
  /**
   * Call it before any `await` between the program's call and `journaled` or `journalStreamed`. The program starts new
   * work, which shows which earlier failures it has handled. Without it, a dump during the wait would not know that.
   */
  markPendingFailuresHandled(): void;
  /**
   * True if a recording that may answer the call was made without this replay flag. An adapter that has changed the form of
   * its requests under the flag passes the earlier form too: the field `older` of the call.
   */
  recordedWithout(flag: number): boolean;
}

class Ambient implements AmbientContext {
  readonly context: RunContext;

  constructor(context: RunContext) {
    this.context = context;
  }

  get mode(): AmbientContext["mode"] {
    return this.context.scope.run.mode;
  }

  get signal(): AbortSignal {
    return this.context.signal;
  }

  markPendingFailuresHandled(): void {
    noteStart(this.context.scope);
  }

  recordedWithout(flag: number): boolean {
    const { frame, outerRecording } = this.context.scope;
    return !frame.hasFlag(flag) || outerRecording?.frame.hasFlag(flag) === false;
  }
}

/**
 * Finds the run, agent or test that a client's call belongs to. If the async context is lost, for example in a callback
 * of native code, it is the context in which the client was created, or the only running test.
 *
 * @param apiName the adapter, for errors.
 * @param created `getContext()` at the time when the client was created.
 * @returns `undefined` if the call must not be journaled: outside of runs, and inside a client's call, whose request it
 * sends. Call the client directly.
 * @throws ContextNotFoundError if the context is lost and several tests are running.
 *
 * @example
 * ```ts
 * import { ambientContext, getContext, journaled } from "agent-rewind/integration";
 *
 * type Search = (query: string) => Promise<string[]>;
 *
 * export function rewindSearch(search: Search): Search {
 *   const created = getContext();
 *   return async (query) => {
 *     const ambient = ambientContext("rewindSearch", created);
 *     if (ambient === undefined) return search(query);
 *     const { context } = ambient;
 *     const { value } = await journaled({
 *       kind: "search",
 *       name: "search",
 *       request: { query },
 *       context,
 *       execute: () => search(query),
 *     });
 *     return value;
 *   };
 * }
 * ```
 */
export function ambientContext(apiName: string, created: RunContext | undefined): AmbientContext | undefined {
  const context = findContext(created, apiName);
  if (context === undefined || context.isTransport) return undefined;
  // Under the rules of older recordings, every call covers the client calls inside it.
  if (context.outerCall !== undefined && !context.scope.rules.innerCalls) return undefined;
  warnIfEnded(context.scope.run, apiName);
  return new Ambient(markCaller(context));
}

let hasWarned = false;

/** A queue may have started the call in the async context of an earlier test. */
function warnIfEnded(run: RunState, apiName: string): void {
  if (hasWarned || !run.outermost.isRecordingSession || !run.outermost.hasEnded || !run.warns) return;
  if (activeRuns.executing.size === 0) return;
  hasWarned = true;
  warn(
    `${apiName}: a call (sent by ${callSite()}) began in the async context of a test that has ended, so it is not ` +
      "recorded. If a queue that several tests share sent it for a test that is still running, bind its tasks where they " +
      "are added: queue.add(captureContext().bind(task)). This warning is shown once.",
  );
}

/**
 * Calls `fn`, which sends a message of a client. Requests of other wrapped clients in it are not journaled, and the
 * [network guard](../../docs/network-guard.md) lets it pass.
 */
export function asTransport<R>(fn: () => R): R {
  return storage.run(getContext()?.asTransport() ?? TRANSPORT_OUTSIDE, fn);
}

/** Calls `fn` outside of all runs. For connections that outlive the call that opens them. */
export function outsideOfRuns<R>(fn: () => R): R {
  return storage.exit(fn);
}
