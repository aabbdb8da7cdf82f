// The package by import and by require in one process.
import { createRequire } from "node:module";
import * as esm from "agent-rewind";
import * as esmDebugger from "agent-rewind/debugger";

const require = createRequire(import.meta.url);
const cjs = require("agent-rewind");
const cjsDebugger = require("agent-rewind/debugger");

const call = (copy, made) => copy.journalCall({ kind: "work", name: "w", request: { n: 1 } }, () => made());
const report = {};
for (const [name, one, other, otherDebugger] of [
  ["import", esm, cjs, cjsDebugger],
  ["require", cjs, esm, esmDebugger],
]) {
  let made = 0;
  const run = async () => {
    const agent = other.createAgent({ id: "a", handler: () => call(one, () => ++made) });
    return { value: await agent(), snapshot: otherDebugger.dumpSnapshot() };
  };
  const { snapshot } = await one.runWith(run, { enableSnapshot: true });
  const { value } = await other.runWith(run, { enableSnapshot: true, snapshot });
  const miss = await one.replay(() => call(other, () => 0), { snapshot, enableSnapshot: true }).catch((error) => error);
  report[name] = {
    value,
    made,
    guards: [one, other].map((copy) => copy.isReplayMissError(miss)),
    nested: await one.runWith(() => other.runWith(() => 1)).catch((error) => error.name),
  };
}
console.log(JSON.stringify({ copies: esm.runWith !== cjs.runWith, ...report }));
