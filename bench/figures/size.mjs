import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { journalCall, runWith } from "agent-rewind";
import { rewindMiddleware } from "agent-rewind/ai-sdk";
import { createTraceWriter, dumpSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";

import { fittedExponent } from "../lib/fit.mjs";
import { growth } from "../lib/row.mjs";
import { toolLoop } from "../workloads/agent.mjs";
import { runVitest, VITEST_CONFIG } from "./vitest.mjs";

const TURNS = [50, 100, 200];
/** Bytes per byte of the conversation. */
const LIMIT = 2;
/** Exponent of the growth. */
const LINEAR = 1.1;
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Bytes of the conversation. */
const PER_TURN = 2_000;
const TEXT = "x".repeat(1_000);
const reply = { role: "assistant", content: TEXT };
const fetch = rewindFetch(async () => Response.json(reply));
const middleware = rewindMiddleware();

/** A conversation in which each turn has a question and an answer of 1,000 characters. */
async function converse(turns, ask) {
  const messages = [];
  for (let turn = 0; turn < turns; turn++) {
    messages.push({ role: "user", content: `${turn} ${TEXT}`.slice(0, 1_000) });
    messages.push(await ask(messages));
  }
}

const ways = {
  journalCall: (turns) =>
    converse(turns, (messages) => journalCall({ kind: "chat", name: "m", request: { messages } }, () => reply)),
  rewindFetch: (turns) =>
    converse(turns, async (messages) => {
      const body = JSON.stringify({ model: "m", messages });
      return (await fetch("http://host/v1/chat", { method: "POST", body })).json();
    }),
  "AI SDK": (turns) =>
    converse(turns, async (messages) => {
      const prompt = messages.map(({ role, content }) => ({ role, content: [{ type: "text", text: content }] }));
      const content = [{ type: "text", text: TEXT }];
      const doGenerate = async () => ({ content, finishReason: "stop", usage: {}, warnings: [] });
      const model = { specificationVersion: "v2", provider: "p", modelId: "m" };
      const answer = await middleware.wrapGenerate({ model, params: { prompt }, doGenerate });
      return { role: "assistant", content: answer.content[0].text };
    }),
};

export default async function run() {
  mkdirSync(join(ROOT, ".tmp"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".tmp/bench-"));
  try {
    const rows = [];
    const add = async (name, sizeAt) => {
      const points = [];
      for (const turns of TURNS) {
        const bytes = await sizeAt(turns);
        points.push({ x: turns, y: bytes });
        rows.push(perByte(`${name}, ${turns} turns`, bytes / (turns * PER_TURN), LIMIT));
      }
      rows.push(growth(`${name}, growth with the number of turns`, fittedExponent(points), LINEAR));
    };
    for (const [name, work] of Object.entries(ways)) {
      await add(`snapshot, ${name}`, (turns) => snapshotSize(() => work(turns)));
    }
    await add("snapshot, an agent and its tool", async (turns) => {
      const { agent, model } = toolLoop(turns);
      let conversation = [];
      const stream = (messages, ...rest) => model.stream((conversation = messages), ...rest);
      const bytes = await snapshotSize(() => agent(), { model: { ...model, stream } });
      return (bytes * turns * PER_TURN) / JSON.stringify(conversation).length;
    });
    await add("trace, journalCall", async (turns) => {
      const path = join(folder, `${turns}.jsonl`);
      const trace = createTraceWriter(path, { sync: "off" });
      await runWith(() => ways.journalCall(turns), { eventBus: trace });
      await trace.close();
      return statSync(path).size;
    });
    await add("vitest recording, journalCall", (turns) => recordingSize(join(folder, `${turns}`), turns));
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function snapshotSize(work, options = {}) {
  let snapshot;
  await runWith(
    async () => {
      await work();
      snapshot = dumpSnapshot();
    },
    { enableSnapshot: true, ...options },
  );
  return stringifySnapshot(snapshot).length;
}

/** The size of the files that a test of this conversation records. */
async function recordingSize(folder, turns) {
  mkdirSync(folder);
  writeFileSync(join(folder, "vitest.config.mjs"), VITEST_CONFIG);
  const ask = `(messages) => journalCall({ kind: "chat", name: "m", request: { messages } }, () => reply)`;
  const test = `import { journalCall } from "agent-rewind";
import { test } from "agent-rewind/vitest";
const TEXT = "x".repeat(1_000);
const reply = { role: "assistant", content: TEXT };
const ask = ${ask};
${converse.toString()}
test("converses", { timeout: 60_000 }, () => converse(${turns}, ask));
`;
  writeFileSync(join(folder, "a.test.mjs"), test);
  await runVitest(folder, {});
  const recordings = join(folder, "__recordings__");
  const files = readdirSync(recordings, { recursive: true }).map((name) => statSync(join(recordings, name)));
  return files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
}

function perByte(name, value, limit) {
  const row = { case: name, unit: "bytes", result: { value, form: "ratio" } };
  return limit === undefined ? row : { ...row, limit: { kind: "at most", value: limit }, holds: value <= limit };
}
