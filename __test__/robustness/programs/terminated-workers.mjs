// Eight workers that are repeatedly terminated in the middle of their work.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { createAgent, runWith } from "agent-rewind";
import { createTraceWriter, dumpSnapshot, writeSnapshot } from "agent-rewind/debugger";
import { runOnce } from "./runs.mjs";

const [folder] = process.argv.slice(2);
const workerData = { snapshot: `${folder}/snapshot.json`, trace: `${folder}/trace.jsonl` };
const trace = createTraceWriter(workerData.trace);
const agent = createAgent({ id: "a", handler: () => writeSnapshot(workerData.snapshot, dumpSnapshot()) });
await runWith(agent, {
  eventBus: trace,
  enableSnapshot: true,
});
await trace.close();

const codes = [];
for (let round = 0; round < 3; round++) {
  const workers = Array.from(
    { length: 8 },
    () => new Worker(new URL("endless-worker.mjs", import.meta.url), { workerData }),
  );
  await Promise.all(workers.map((worker) => once(worker, "message")));
  codes.push(...(await Promise.all(workers.map((worker) => worker.terminate()))));
}
// The remaining ones still work.
await runOnce(1);
console.log(JSON.stringify(codes));
