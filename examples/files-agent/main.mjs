// An agent fails late. It is fixed and replayed without repeating a finished call.
//
//   node examples/files-agent/main.mjs [--out DIR] [--library DIR] [--question TEXT] [--json]
//     [--context-monitor]
//
// The model is a scripted server on a local port. With OPENAI_API_KEY set, it is the real endpoint (OPENAI_BASE_URL,
// OPENAI_MODEL), and the counted calls are those that the adapter sent. With --context-monitor, files next to the trace
// show the last request of each agent.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runWith } from "agent-rewind";
import { ContextManager, createManagerConfig } from "agent-rewind/context";
import {
  createTraceWriter,
  dumpSnapshot,
  readSnapshot,
  restoreSnapshotFromFile,
  writeSnapshot,
} from "agent-rewind/debugger";
import { createFilesAgent } from "./agent.mjs";
import { createCallLog } from "./call-log.mjs";
import { openEndpoint } from "./endpoint.mjs";
import { createMeasure } from "./measure.mjs";
import { createReport } from "./report.mjs";
import { finishedBy, lastTurnOf, nthEnd, readTrace } from "./trace.mjs";

const { values: args } = parseArgs({
  options: {
    out: { type: "string" },
    library: { type: "string", default: fileURLToPath(new URL("library", import.meta.url)) },
    question: {
      type: "string",
      default: "How many days does each store of Halla Station last without the supply ship, and which runs out first?",
    },
    json: { type: "boolean", default: false },
    "context-monitor": { type: "boolean", default: false },
  },
});
// With --json, standard output is reserved for the program that reads it.
const print = args.json ? console.error : console.log;

const out = args.out ? resolve(args.out) : await mkdtemp(join(tmpdir(), "files-agent-"));
await mkdir(out, { recursive: true });
const files = { snapshot: join(out, "snapshot.json"), trace: join(out, "trace.jsonl") };
// A trace writer appends, so the trace of an earlier run is removed first.
await Promise.all(Object.values(files).map((path) => rm(path, { force: true })));

const monitor = args["context-monitor"] ? createMonitor(join(out, "context.txt")) : undefined;

const sent = createCallLog();
const toolCalls = createCallLog();
const endpoint = await openEndpoint(sent);
const measure = createMeasure({ requests: endpoint.requests, toolCalls, print });
try {
  await main();
} finally {
  await endpoint.close();
  await monitor?.close();
}

async function main() {
  const { model } = endpoint;
  const { question, library: root } = args;
  const agentWithBug = createFilesAgent({ root, calls: toolCalls, buggy: true });
  const agent = createFilesAgent({ root, calls: toolCalls });
  print(`${question}\n(${endpoint.description})`);

  // 1. The run fails in the agent's own code after nearly all calls. Its state is dumped at the failure.
  const trace = createTraceWriter(files.trace, { sync: "batch" });
  const recorded = await measure("live, with the bug", (progress) =>
    runWith(
      async () => {
        try {
          return await agentWithBug({ question });
        } catch (error) {
          await writeSnapshot(files.snapshot, dumpSnapshot({ error, metadata: { reason: error.message } }));
          throw error;
        }
      },
      { model, eventBus: both(trace, progress), enableSnapshot: true },
    ),
  );
  await trace.close();
  if (recorded.error?.name !== "TypeError") {
    throw new Error("The first run was to fail by the bug of the agent, and did not.", {
      cause: recorded.error,
    });
  }

  // 2. The fixed agent takes over from the snapshot, and from several points of the trace.
  const replay = (name, snapshot) =>
    measure(name, (eventBus) =>
      runWith(() => agent({ question }), { model, eventBus, snapshot, enableSnapshot: true }),
    );
  const fromSnapshot = await replay("fixed, from the snapshot", await readSnapshot(files.snapshot));
  const events = await readTrace(files.trace);
  const replays = [{ phase: fromSnapshot, finished: finishedBy(events) }];
  const reader = nthEnd(events, "file-reader", 2);
  for (const [name, point] of [
    ["fixed, from the end of the trace"],
    ["fixed, after the third reader", { spanId: reader, anchor: "after" }],
    ["fixed, before its last turn", { spanId: lastTurnOf(events, reader), anchor: "before" }],
    ["fixed, before its start", { spanId: reader, anchor: "before" }],
  ]) {
    const snapshot = await restoreSnapshotFromFile(files.trace, point);
    replays.push({ phase: await replay(name, snapshot), finished: finishedBy(events, point) });
  }

  // 3. The same without a replay, for comparison. A real model would return another answer.
  const control = endpoint.deterministic
    ? await measure("fixed, without a snapshot", (eventBus) =>
        runWith(() => agent({ question }), { model, eventBus, enableSnapshot: true }),
      )
    : undefined;

  const report = createReport({ recorded, replays, control, sent, requests: endpoint.requests });
  if (!report.allKept) process.exitCode = 1;
  if (args.json) console.log(JSON.stringify({ ...report.data, files }, null, 2));
  print(report.text);
  print("\nLook at what was kept:");
  print(`  less ${files.snapshot}    the tree of agents, with each journal and memory`);
  if (monitor !== undefined) print(`  less ${join(out, "context*.txt")}    what each agent's model was sent last`);
  print(`  less ${files.trace}       an event a line; "before" and "after" take any spanId in it`);
}

/** Sees every model request in this process and writes the last one of each agent to a separate file. */
function createMonitor(monitorPath) {
  const config = createManagerConfig({ monitorEnabled: true, monitorPath });
  return new ContextManager({ model: "gpt-4o-mini", config, agentName: "files-agent" });
}

function both(...buses) {
  return {
    emit(event) {
      for (const bus of buses) bus.emit(event);
    },
  };
}
