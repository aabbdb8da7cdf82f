// One listener on the process for all writers, however many there are.

const actions = new Set<() => void>();

function runAll(): void {
  for (const action of actions) action();
}

/** Calls `action` when the process, or worker thread, exits by itself or by `process.exit`. Gives the undoing. */
export function writeAtExit(action: () => void): () => void {
  if (actions.size === 0) process.on("exit", runAll);
  actions.add(action);
  return () => {
    actions.delete(action);
    if (actions.size === 0) process.off("exit", runAll);
  };
}
