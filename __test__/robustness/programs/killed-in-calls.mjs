// Two calls that take effect, in a process that is killed before they return. Resumed, they return.
import { appendFileSync } from "node:fs";
import { join } from "node:path";

import { callTool, createAgent, journalCall, runWith } from "agent-rewind";
import { createTraceWriter, restoreSnapshotFromFile } from "agent-rewind/debugger";
import { z } from "zod";

const [, , folder, from, to, end] = process.argv;
const effect = (name, key) => appendFileSync(join(folder, "effects"), `${name} ${key}\n`);
const dies = end === "die";
/** Never returns. The process is killed when both calls hang and the trace is written. */
const hang = () => {
  hanging += 1;
  if (hanging === 2) void writer.flush().then(() => process.kill(process.pid, "SIGKILL"));
  return new Promise(() => {});
};
let hanging = 0;

const charge = {
  name: "charge",
  description: "charges an order",
  parameters: z.object({ order: z.number() }),
  handler: ({ order }, { idempotencyKey }) => {
    effect(`order${order}`, idempotencyKey);
    return dies && order === 2 ? hang() : "charged";
  },
};

const shop = createAgent({
  id: "shop",
  handler: async ({ orders }) => {
    for (const order of orders) await callTool(charge, { order });
  },
});

const mail = () =>
  journalCall({ kind: "mail", name: "send", request: { to: "a" } }, ({ idempotencyKey }) => {
    effect("mail", idempotencyKey);
    return dies ? hang() : "sent";
  });

const snapshot = from === "none" ? undefined : await restoreSnapshotFromFile(join(folder, from));
const writer = createTraceWriter(join(folder, to), { sync: "each" });
const reports = [];
await runWith(() => Promise.all([shop({ orders: [1, 2] }), mail()]), {
  eventBus: writer,
  snapshot,
  enableSnapshot: true,
  onReport: (report) => reports.push(report),
});
await writer.close();
console.log(JSON.stringify(reports[0].inFlight));
