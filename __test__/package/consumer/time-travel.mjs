// Runs the code of docs/time-travel.md and prints the results.
import { createRequire } from "node:module";
import { runWith } from "@rejelly/core";
import { dumpSnapshot } from "@rejelly/core/debugger";
import { made } from "./agents.mjs";
import { dumpIfPossible, record } from "./dump.mjs";
import { again, first } from "./replay.mjs";
import { asTheyAreReady, inOrder, preparedFirst } from "./parallel.mjs";
import { afterTheAgent, traced } from "./restore.mjs";
import { beforeTheAgent, restoreToLatest, resumeExecution, retryExecution } from "./scenarios.mjs";

/** The result of a function, with the number of model and tool calls that it made. */
async function counted(action) {
  const before = { ...made };
  const value = await action();
  return { value, model: made.model - before.model, tool: made.tool - before.tool };
}

const require = createRequire(import.meta.url);
const { isSnapshotDisabledError } = require("@rejelly/core");
const report = { required: [typeof isSnapshotDisabledError, typeof require("@rejelly/core/debugger").restoreSnapshot] };

report.record = await counted(async () => (await record()).metadata);
report.again = await counted(again);
report.first = await counted(async () => {
  const { result, snapshot } = await first();
  const [frame] = Object.values(snapshot.root.children);
  return { result, agentId: frame.agentId, memory: frame.memory };
});
report.disabled = await dumpIfPossible(false);
report.enabled = typeof (await dumpIfPossible(true));

for (const ask of [inOrder, asTheyAreReady, preparedFirst]) {
  const items = ["a", "b", "c"].map((text) => ({ text }));
  const run = () => runWith(async () => ({ results: await ask(items), snapshot: dumpSnapshot() }), {});
  const { results, snapshot } = await run();
  const replayed = await counted(() => runWith(() => ask(items), { snapshot }));
  report[ask.name] = { ...replayed, value: JSON.stringify(replayed.value) === JSON.stringify(results) };
}

const events = await traced();
report.afterTheAgent = await counted(async () => (await afterTheAgent(events)).result);
report.restoreToLatest = await counted(() => restoreToLatest(events));
const agentSpan = events.find(({ type }) => type === "agent:end").trace.spanId;
report.resumeExecution = await counted(() => resumeExecution(events, agentSpan));
const turns = events.filter(({ type }) => type === "turn:start");
report.retryExecution = await counted(() => retryExecution(events, turns[1].trace.spanId));
try {
  beforeTheAgent(events);
} catch ({ name }) {
  report.beforeTheAgent = name;
}
console.log(JSON.stringify(report));
