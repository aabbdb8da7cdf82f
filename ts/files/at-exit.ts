// All writers share one listener on the process: Node warns about more than ten listeners.

const actions = new Set<() => void>();

function runAll(): void {
  for (const action of actions) action();
}

/** Calls `action` when the process or worker thread exits by itself or by `process.exit`. Returns a function that cancels this. */
export function writeAtExit(action: () => void): () => void {
  if (actions.size === 0) process.on("exit", runAll);
  actions.add(action);
  return () => {
    actions.delete(action);
    if (actions.size === 0) process.off("exit", runAll);
  };
}
