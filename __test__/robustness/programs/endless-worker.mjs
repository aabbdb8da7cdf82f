// Works endlessly: runs, and reads and restores on other threads, so that something is always in flight.
import { parentPort, workerData } from "node:worker_threads";
import { runWith } from "agent-rewind";
import { dumpSnapshot, readSnapshot, restoreSnapshotFromFile } from "agent-rewind/debugger";
import { runOnce } from "./runs.mjs";

const { snapshot, trace } = workerData;
for (let n = 0; ; n++) {
  void Promise.all([
    readSnapshot(snapshot),
    restoreSnapshotFromFile(trace),
    runWith(() => dumpSnapshot(), { enableSnapshot: true }),
  ]);
  await runOnce(n);
  if (n === 0) parentPort.postMessage("at work");
}
