// Beyond the limits, a typed error is thrown and nothing crashes.

import { runFrame, runWith } from "agent-rewind";
import { parseSnapshot, restoreSnapshot } from "agent-rewind/debugger";

/** @returns {Promise<{ what: string, name: string, code: string, message: string }[]>} the error of each attempt */
export async function limits() {
  const attempts = {
    "1,001 frames in a snapshot": () => parseSnapshot(nestedSnapshot(1001)),
    "1,001 frames in a trace": () => restoreSnapshot(nestedTrace(1001)),
    "runWith with a maxDepth of 1,000 agents": () => runWith(async () => 1, { maxDepth: 1000 }),
    "1,000 agents inside one another in a run": () => runWith(() => nest(1000), { maxDepth: 999 }),
    "more than 1,000 levels of JSON in a snapshot": () =>
      parseSnapshot(snapshotOf(`${"[".repeat(1_100)}${"]".repeat(1_100)}`)),
  };
  const results = [];
  for (const [what, attempt] of Object.entries(attempts)) {
    try {
      await attempt();
      results.push({ what, name: "no error", code: "", message: "" });
    } catch ({ name, code, message }) {
      results.push({ what, name, code, message });
    }
  }
  return results;
}

/** Reads and restores the largest allowed number of nested frames. */
export const withinLimits = () => {
  parseSnapshot(nestedSnapshot(1000));
  restoreSnapshot(nestedTrace(1000));
  parseSnapshot(snapshotOf(`${"[".repeat(900)}${"]".repeat(900)}`));
};

function nest(depth) {
  return runFrame({ id: "level", input: { depth } }, async () => {
    // Each agent makes a call before it calls the next one, as real agents do. Otherwise JavaScript's own stack ends
    // first.
    await Promise.resolve();
    return depth === 1 ? 1 : nest(depth - 1);
  });
}

const NO_USAGE = '{"costs":{},"totalTokens":0,"promptTokens":0,"completionTokens":0,"callCount":0,"items":[]}';
const head = (callId) =>
  `"callId":"${callId}","agentId":"a","memory":{},"journal":{"prompt":{},"tool":{}},"state":{"status":"running"},"budgetState":{"own":${NO_USAGE},"aggregate":${NO_USAGE}}`;
const snapshotOfRoot = (root) =>
  `{"processId":"p","timestamp":0,"version":1,"provenance":{"traceId":"t"},"root":${root}}`;

function nestedSnapshot(frames) {
  let root = `{${head("f1")},"children":{}}`;
  for (let number = 2; number <= frames; number++)
    root = `{${head(`f${number}`)},"children":{"f${number - 1}":${root}}}`;
  return snapshotOfRoot(root);
}

function snapshotOf(memory) {
  return snapshotOfRoot(`{${head("f").replace('"memory":{}', `"memory":{"k":${memory}}`)},"children":{}}`);
}

/** A chain of agents whose outermost is the root. */
function nestedTrace(frames) {
  const id = (number) => String(number).padStart(16, "0");
  const trace = (number) => ({
    traceId: "0".repeat(32),
    spanId: id(number),
    parentSpanId: number === 1 ? "" : id(number - 1),
  });
  return Array.from({ length: frames }, (_, index) => ({
    type: "agent:start",
    agentId: "a",
    schemaVersion: 1,
    timestamp: index,
    _seq: index,
    trace: trace(index + 1),
    props: {},
    maxReborns: 1,
  }));
}
