import assert from "node:assert/strict";

import { callTool, journalCall, runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { z } from "zod";

import { measure } from "../lib/measure.mjs";
import { added } from "../lib/row.mjs";
import { call, output } from "../workloads/entries.mjs";

const CALLS = 100;
const LIMIT = 0.02;

const tool = {
  name: "search",
  description: "Searches",
  parameters: z.object({ query: z.string(), limit: z.number() }),
  handler: async ({ limit }) => output(limit),
};

/** A call of a function that returns 2 KB: direct, and through the package. */
const kinds = {
  "journalCall, model answer": { alone: plainCall(0), called: journaledCall(0) },
  "journalCall, tool result": { alone: plainCall(1), called: journaledCall(1) },
  "callTool, tool result": {
    alone: (index) => tool.handler({ query: `question ${index}`, limit: 1 }),
    called: (index) => callTool(tool, { query: `question ${index}`, limit: 1 }),
  },
};

export default async function run({ quick }) {
  const rows = [];
  for (const [name, { alone, called }] of Object.entries(kinds)) {
    await check(called);
    const works = {
      alone: times(alone, false),
      unrecorded: times(called, false),
      recorded: times(called, true),
      observed: times(called, true, { emit() {} }),
    };
    const timings = await measure(works, { seconds: quick ? 1 : 2.5 });
    const bare = { name: "the function alone", ...timings.alone };
    const unrecorded = { name: "enableSnapshot: false", ...timings.unrecorded };
    // The input of a tool is validated with or without recording. The baseline of a journaled call is a plain call.
    const isTool = called === kinds["callTool, tool result"].called;
    rows.push(
      added(name, timings.recorded, bare, isTool ? undefined : LIMIT),
      added(name, timings.recorded, unrecorded, LIMIT),
      added(`${name}, with events`, timings.observed, bare),
    );
  }
  return rows;
}

function plainCall(index) {
  const make = async () => output(index);
  return () => make();
}

function journaledCall(parity) {
  return (index) => {
    const at = 2 * index + parity;
    return journalCall(call(at), async () => output(parity));
  };
}

/** A run of many sequential calls. */
function times(fn, enableSnapshot, eventBus) {
  const makeCalls = async () => {
    for (let index = 0; index < CALLS; index++) await fn(index);
  };
  const options = { enableSnapshot, ...(eventBus === undefined ? {} : { eventBus }) };
  return { units: CALLS, before: () => {}, run: () => runWith(makeCalls, options) };
}

async function check(fn) {
  let snapshot;
  const record = async () => {
    await fn(3);
    snapshot = dumpSnapshot();
  };
  await runWith(record, { enableSnapshot: true });
  assert.equal(snapshot.root.calls.length, 1);
}
