import { getContext } from "./run-context.js";

/** Aborts an agent from inside. */
export interface AbortHandle {
  /**
   * Aborts the agent, and with it its sub-agents; not what called it. Nothing happens once the agent has ended.
   * @param reason becomes `signal.reason`, as it is.
   */
  abort(reason?: unknown): void;
  /** The agent's signal. */
  readonly signal: AbortSignal;
}

/** The signal that aborts when the current agent is to stop; `undefined` outside of runs and agents. */
export function getContextSignal(): AbortSignal | undefined {
  return getContext()?.signal;
}

/** A handle on the current agent. Outside of runs and agents it does nothing, and its signal never aborts. */
export function getAbortHandle(): AbortHandle {
  const scope = getContext()?.scope;
  if (scope === undefined) return { abort: () => {}, signal: new AbortController().signal };
  return { abort: (reason) => scope.abort(reason), signal: scope.signal };
}
