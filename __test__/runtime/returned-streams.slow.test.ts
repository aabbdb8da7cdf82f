// Runs whose function returns a stream that nobody reads to its end: in processes of their own.
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { journalCall, replay, runWith } from "agent-rewind";
import { createTraceWriter, restoreSnapshotFromFile } from "agent-rewind/debugger";
import { afterAll, describe, expect, it } from "vitest";

import { turn } from "../support/deferred.js";
import { temporaryFolder } from "../support/process.js";

const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `
import { createServer } from "node:http";
import { once } from "node:events";
import { journalCall, runWith } from "agent-rewind";
import { createTraceWriter } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";

const server = createServer((request, response) => response.writeHead(200, { connection: "close" }).end("a b c"));
await once(server.listen(0, "127.0.0.1"), "listening");
server.unref();
const fetch = rewindFetch();
const step = (name) => journalCall({ kind: "step", name, request: {} }, () => name);
const kinds = {
  body: async () => (await fetch("http://127.0.0.1:" + server.address().port)).body,
  response: () => fetch("http://127.0.0.1:" + server.address().port),
  static: () => Response.json({ ok: true }),
  generator: async function* () {
    for (let at = 0; at < 3; at++) yield await step("step " + at);
  },
};
const [kind, file, how] = process.argv.slice(2);
const trace = createTraceWriter(file);
const log = (...words) => console.log(...words);
const options = { eventBus: trace, onReport: () => log("report"), onEnd: ({ error }) => log("end", error?.message ?? "") };
const start = async () => {
  await step("before");
  return kinds[kind]();
};

if (how === "collected") {
  // Its own function, so that nothing refers to the stream afterwards.
  const drop = async () => void (await runWith(start, options));
  await drop();
  for (let round = 0; round < 20; round++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    gc();
  }
  log("collected");
  process.exit();
}
if (how === "left iterator") {
  const iterator = await (async () => (await runWith(start, options))[Symbol.asyncIterator]())();
  for (let round = 0; round < 10; round++) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    gc();
  }
  log("still open");
  for (let part = await iterator.next(); !part.done; part = await iterator.next());
  log("read");
  process.exit();
}
globalThis.kept = await runWith(start, options);
log("returned");
if (how === "closed") {
  await trace.close();
  log("closed");
}
`;

async function run(kind: string, how: string): Promise<{ lines: string[]; file: string }> {
  const program = join(folder, "program.mjs");
  writeFileSync(program, PROGRAM);
  const file = join(folder, `${kind}-${how}.jsonl`);
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", program, kind, file, how], {
    timeout: 20_000,
  });
  return {
    lines: stdout
      .trim()
      .split("\n")
      .map((line) => line.trim()),
    file,
  };
}

const KINDS = ["body", "response", "static", "generator"];

describe("a returned stream that nobody reads", () => {
  it.each(KINDS)("ends the run when it is collected: %s", async (kind) => {
    const { lines, file } = await run(kind, "collected");
    expect(lines).toEqual(["report", "end", "collected"]);
    const events = readFileSync(file, "utf8").trim().split("\n");
    expect(JSON.parse(events.at(-1) as string)).toMatchObject({ type: "runWith:end", success: true });
  });

  it.each(KINDS)("does not keep the process alive, and ends with it: %s", async (kind) => {
    const { lines, file } = await run(kind, "");
    expect(lines).toEqual(["returned", "report", "end"]);
    expect((await restoreSnapshotFromFile(file)).root.state.status).toBe("completed");
  });

  it.each(KINDS)("lets the process close its trace: %s", async (kind) => {
    const { lines } = await run(kind, "closed");
    expect(lines).toEqual(["returned", "report", "end", "closed"]);
  });
});

it.each(["body", "generator"])("a stream is not collected while its iterator is read: %s", async (kind) => {
  const { lines } = await run(kind, "left iterator");
  expect(lines).toEqual(["still open", "report", "end", "read"]);
});

it("a trace is closed when the runs on it have ended", async () => {
  const file = join(folder, "closed.jsonl");
  const trace = createTraceWriter(file);
  const step = (name: string): Promise<string> => journalCall({ kind: "step", name, request: {} }, () => name);
  const start = async function* (): AsyncGenerator<string> {
    yield await step("one");
    yield await step("two");
  };
  const values = await runWith(start, { eventBus: trace });
  let isClosed = false;
  const closing = trace.close().then(() => (isClosed = true));
  await turn();
  expect(isClosed).toBe(false);
  const read: string[] = [];
  for await (const value of values) read.push(value);
  await closing;
  const snapshot = await restoreSnapshotFromFile(file);
  expect(snapshot.warnings).toBeUndefined();
  const again: string[] = [];
  await replay(
    async () => {
      for await (const value of start()) again.push(value);
    },
    { snapshot },
  );
  expect(again).toEqual(read);
});
