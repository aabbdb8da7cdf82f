// Eight workers with separate runs, in parallel.
import { once } from "node:events";
import { Worker } from "node:worker_threads";

const workers = Array.from({ length: 8 }, (_, index) => {
  return new Worker(new URL("run-worker.mjs", import.meta.url), { workerData: { from: index * 1000, count: 20 } });
});
const counts = await Promise.all(workers.map(async (worker) => (await once(worker, "message"))[0]));
await Promise.all(workers.map((worker) => worker.terminate()));
console.log(JSON.stringify(counts));
