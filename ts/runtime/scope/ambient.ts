import { ContextNotFoundError } from "../../errors/index.js";
import { getContext, type RunContext } from "./run-context.js";

// Two copies of the package in one process share the set.
const KEY = Symbol.for("agent-rewind/held-contexts@1");
const shared = globalThis as { [KEY]?: Set<RunContext> };

/** The contexts of all open recording sessions, such as tests. */
export const sessionContexts: Set<RunContext> = (shared[KEY] ??= new Set<RunContext>());

/**
 * The context for a client's call. A call that lost its context (in a callback of native code, for example) belongs to
 * the context that created the client, or else to the only open recording session.
 *
 * @param made the context in which the client was created.
 * @throws ContextNotFoundError if several sessions are open, so that the call would be recorded in none of them.
 */
export function ambientContext(made: RunContext | undefined, apiName: string): RunContext | undefined {
  const context = getContext() ?? (made === undefined || made.scope.closed ? undefined : made);
  if (context !== undefined || sessionContexts.size === 0) return context;
  const [only] = sessionContexts;
  if (sessionContexts.size === 1) return only;
  throw new ContextNotFoundError(apiName);
}
