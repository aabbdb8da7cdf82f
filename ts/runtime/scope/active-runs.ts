import type { RunState } from "./run-state.js";

interface ActiveRuns {
  /** Runs whose function has not returned. */
  readonly executing: Set<RunState>;
  /** Number of runs that do not allow every request. They may outlive their function. */
  guarded: number;
  /** True while a layer below the clients records what is sent over HTTP/1. The network guard leaves that to it. */
  takesHttp1?: boolean;
}

// Two copies of the package in one process share them, as they share the context.
const KEY = Symbol.for("agent-rewind/active-runs@1");
const shared = globalThis as { [KEY]?: ActiveRuns };

export const activeRuns: ActiveRuns = (shared[KEY] ??= { executing: new Set<RunState>(), guarded: 0 });
