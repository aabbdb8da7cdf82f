// Reads, dumps and drops snapshots over turns of the event loop, and prints the peak memory in MB. Nothing here
// produces garbage that V8 would notice by itself.
import { journalCall, runWith } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";

const [count] = process.argv.slice(2).map(Number);
const text = await runWith(
  async () => {
    await journalCall({ kind: "work", name: "w", request: {} }, () => "x".repeat(4_000_000));
    return stringifySnapshot(dumpSnapshot());
  },
  { enableSnapshot: true },
);

const start = process.resourceUsage().maxRSS;
for (let n = 0; n < count; n++) {
  parseSnapshot(text);
  await new Promise((resolve) => setImmediate(resolve));
}
console.log(Math.round((process.resourceUsage().maxRSS - start) / 1024));
