// All writers share one listener on the process: Node warns about more than ten listeners.

type Cancel = () => void;

function hookOf(event: "exit" | "beforeExit"): (action: () => void) => Cancel {
  const actions = new Set<() => void>();
  const runAll = (): void => {
    for (const action of actions) action();
  };
  return (action) => {
    if (actions.size === 0) process.on(event, runAll);
    actions.add(action);
    return () => {
      actions.delete(action);
      if (actions.size === 0) process.off(event, runAll);
    };
  };
}

/** Calls `action` when the process or worker thread exits by itself or by `process.exit`. Returns a function that cancels this. */
export const writeAtExit: (action: () => void) => Cancel = hookOf("exit");

/** Calls `action` when the process has nothing left to wait for. It does not keep the process alive. */
export const whenNothingIsLeft: (action: () => void) => Cancel = hookOf("beforeExit");
