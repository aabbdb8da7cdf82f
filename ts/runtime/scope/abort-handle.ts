import { getContext } from "./run-context.js";

/** Aborts an agent from inside: `handle(reason)` and `handle.abort(reason)` are the same. */
export interface AbortHandle {
  /**
   * Aborts the agent and its sub-agents, but not its caller. Does nothing once the agent has ended.
   * @param reason becomes `signal.reason`.
   */
  (reason?: unknown): void;
  abort(reason?: unknown): void;
  /** The agent's signal. */
  readonly signal: AbortSignal;
}

/** The signal that aborts when the current agent must stop; `undefined` outside of runs and agents. */
export function getContextSignal(): AbortSignal | undefined {
  return getContext()?.signal;
}

/**
 * Returns a function that aborts the current agent. It can be called later, in any context. Outside of runs and agents
 * the function does nothing, and its signal never aborts.
 */
export function getAbortHandle(): AbortHandle {
  const scope = getContext()?.scope;
  const abort = (reason?: unknown): void => scope?.abort(reason);
  return Object.assign(abort, { abort, signal: scope?.signal ?? new AbortController().signal });
}
