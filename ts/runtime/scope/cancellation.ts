import { getContext } from "./run-context.js";

/** Aborts an agent from inside: `handle(reason)` and `handle.abort(reason)` are the same. */
export interface AbortHandle {
  /**
   * Aborts the agent and its sub-agents, but not its caller. Does nothing once the agent has ended.
   * @param reason becomes `signal.reason`, as it is.
   */
  (reason?: unknown): void;
  abort(reason?: unknown): void;
  /** The agent's signal. */
  readonly signal: AbortSignal;
}

/** The signal that aborts when the current agent is to stop; `undefined` outside of runs and agents. */
export function getContextSignal(): AbortSignal | undefined {
  return getContext()?.signal;
}

/**
 * A function that aborts the current agent. Outside of runs and agents it does nothing, and its signal never aborts. The
 * handle stays that of the agent that got it, wherever it is called.
 */
export function getAbortHandle(): AbortHandle {
  const scope = getContext()?.scope;
  const abort = (reason?: unknown): void => scope?.abort(reason);
  return Object.assign(abort, { abort, signal: scope?.signal ?? new AbortController().signal });
}
