import { parentPort, workerData } from "node:worker_threads";
import { runOnce } from "./runs.mjs";

const { from, count } = workerData;
for (let n = from; n < from + count; n++) await runOnce(n);
parentPort.postMessage(count);
