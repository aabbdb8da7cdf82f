// Writes a file of several megabytes, as a snapshot or as an exported trace: once, or repeatedly until it is killed.
import { join } from "node:path";

import { journalCall, runWith } from "agent-rewind";
import { createTraceWriter, dumpSnapshot, exportTrace, writeSnapshot } from "agent-rewind/debugger";

const [kind, folder, times] = process.argv.slice(2);
const trace = createTraceWriter(join(folder, `${process.pid}.jsonl`));
const snapshot = await runWith(
  async () => {
    const answer = "x".repeat(2000);
    for (let index = 0; index < 2000; index++) {
      await journalCall({ kind: "work", name: "w", request: { index } }, () => answer);
    }
    return dumpSnapshot();
  },
  { eventBus: { emit: (event) => event.type !== "runWith:end" && trace.emit(event) } },
);
await trace.close();

const write = {
  snapshot: () => writeSnapshot(join(folder, "out"), snapshot),
  export: () => exportTrace(join(folder, `${process.pid}.jsonl`), join(folder, "out")),
}[kind];
for (let count = 0; count < Number(times); count++) {
  await write();
  if (count === 0) console.log("begun");
}
