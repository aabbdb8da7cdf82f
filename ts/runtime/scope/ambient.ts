import { ContextNotFoundError } from "../../errors/index.js";
import { getContext, type RunContext } from "./run-context.js";

// Two copies of the package in one process share them.
const KEY = Symbol.for("agent-rewind/held-contexts@1");
const shared = globalThis as { [KEY]?: Set<RunContext> };

/** The contexts of all recording sessions that are open, such as those of tests. */
export const sessionContexts: Set<RunContext> = (shared[KEY] ??= new Set<RunContext>());

/**
 * The context for a client's call. Where the call has lost it (in a callback of native code, say), it is that in which
 * the client was made, or that of the only open recording session.
 *
 * @param made the context in which the client was made.
 * @throws ContextNotFoundError if it may belong to any of several sessions: made outside of them it would be recorded
 * nowhere.
 */
export function ambientContext(made: RunContext | undefined, apiName: string): RunContext | undefined {
  const context = getContext() ?? (made === undefined || made.scope.closed ? undefined : made);
  if (context !== undefined || sessionContexts.size === 0) return context;
  const [only] = sessionContexts;
  if (sessionContexts.size === 1) return only;
  throw new ContextNotFoundError(apiName);
}
