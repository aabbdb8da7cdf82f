import { activeRuns } from "../scope/active-runs.js";
import { bindQueues } from "../scope/queues.js";
import type { NetworkRules } from "../scope/network.js";
import type { RunState } from "../scope/run-state.js";

let isInstalled = false;

/** Loads and installs the network guard. `undefined` if it is installed, or if the run does not need it. */
export function loadGuard({ mode }: NetworkRules): Promise<void> | undefined {
  if (mode === "allow" || isInstalled) return undefined;
  return install();
}

async function install(): Promise<void> {
  const { installGuard } = await import("../network/guard.js");
  installGuard();
  isInstalled = true;
}

export function openRun({ network }: RunState): void {
  bindQueues();
  if (network.mode !== "allow") activeRuns.guarded += 1;
}

export function closeRun(run: RunState): void {
  if (run.hasEnded) return;
  run.hasEnded = true;
  if (run.network.mode !== "allow" && !run.isRejected) activeRuns.guarded -= 1;
}
