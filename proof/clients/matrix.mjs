// node matrix.mjs NAME: proves each promise of the table for one client, and prints the results as JSON.
import {
  createTraceWriter,
  dumpSnapshot,
  readSnapshot,
  restoreSnapshotFromFile,
  writeSnapshot,
} from "agent-rewind/debugger";
import { replay, resume, runWith } from "agent-rewind";
import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { loadProgram, redirectFetch } from "./subjects.mjs";
import { startServer } from "./server.mjs";

const [, , name] = process.argv;
const folder = new URL(`.results/${name}/`, import.meta.url).pathname;
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

process.env.AWS_ACCESS_KEY_ID = "none";
process.env.AWS_SECRET_ACCESS_KEY = "none";
let server;
redirectFetch(() => server?.url);
const { ask, stream } = await loadProgram(name);

/** Two questions; the second depends on the answer to the first. */
async function agent({ name: who = "a", late = "", bug = false } = {}) {
  const first = await ask(`What should ${who} wear?`);
  const second = await ask(`And tomorrow${late}, after "${first}"?`);
  if (bug) throw new Error("a bug");
  return [first, second];
}
async function streamed(onPiece = () => {}) {
  const all = [];
  for await (const piece of stream("What should I wear?")) {
    all.push(piece);
    onPiece();
  }
  return all;
}
const options = { enableSnapshot: true };
/** Records a program through a file, as another process would read it. */
async function record(program) {
  const file = `${folder}run.json`;
  const value = await runWith(async () => {
    try {
      return await program();
    } finally {
      await writeSnapshot(file, dumpSnapshot());
    }
  }, options).catch((error) => error);
  return { value, snapshot: await readSnapshot(file) };
}
/** Rejects if the process would crash: some frameworks do not pass on a failure of the model. */
const crash = () => new Promise((_resolve, reject) => process.once("unhandledRejection", reject));
async function offline(action) {
  await server.stop();
  server = undefined;
  const value = await action();
  server = await startServer();
  return value;
}

const PROOFS = {
  async "record → replay offline"() {
    const program = async () => [await agent(), await streamed()];
    const { value, snapshot } = await record(program);
    if (value instanceof Error) throw value;
    let report;
    const again = await offline(() => replay(program, { snapshot, onReport: (given) => (report = given) }));
    assert.deepEqual(again, value);
    assert.deepEqual({ live: report.live, missed: report.missed }, { live: 0, missed: 0 });
  },
  async "late change"() {
    const { snapshot } = await record(() => agent());
    const all = server.requests.length;
    server.reset();
    await record(() => ask("alone"));
    const perAsk = server.requests.length;
    assert.equal(all, 2 * perAsk);
    server.reset();
    await resume(() => agent({ late: " evening" }), { snapshot });
    assert.equal(server.requests.length, perAsk);
    assert.match(server.requests[0], /tomorrow evening/);
  },
  async parallel() {
    const program = () => Promise.all(["a", "b", "c"].map((who) => agent({ name: who })));
    const { value, snapshot } = await record(program);
    assert.equal(new Set(value.flat()).size, 6);
    assert.deepEqual(await offline(() => replay(program, { snapshot })), value);
  },
  async "streaming untouched"() {
    const run = async (around) => {
      server.reset({ count: 0 });
      let open;
      const gate = new Promise((resolve) => (open = resolve));
      let isLate = false;
      const timeout = setTimeout(() => ((isLate = true), open()), 10_000);
      server.gate = { opened: () => gate };
      const value = await around(() => streamed(open));
      clearTimeout(timeout);
      server.gate = undefined;
      assert.equal(isLate, false, "the first pieces must arrive before the last ones are sent");
      return value;
    };
    const plain = await run((program) => program());
    assert.ok(plain.length > 2);
    assert.deepEqual(await run((program) => runWith(program, options)), plain);
  },
  async "failure → fix → resume"() {
    const { value, snapshot } = await record(() => agent({ bug: true }));
    assert.match(String(value), /a bug/);
    const all = server.requests.length;
    server.reset();
    const fixed = await resume(() => agent(), { snapshot });
    assert.equal(server.requests.length, 0);
    // A failure of the server at the last request.
    server.failAt = all - 1;
    const failed = await record(() => Promise.race([agent(), crash()]));
    assert.ok(failed.value instanceof Error);
    server.reset();
    const [first] = await resume(() => agent(), { snapshot: failed.snapshot });
    assert.equal(server.requests.length, 1);
    assert.notEqual(first, fixed[0]);
  },
  async "trace → restore"() {
    const file = `${folder}trace.jsonl`;
    const trace = createTraceWriter(file);
    const program = async () => [await agent(), await streamed()];
    const value = await runWith(program, { ...options, eventBus: trace });
    await trace.close();
    const snapshot = await restoreSnapshotFromFile(file);
    assert.deepEqual(await offline(() => replay(program, { snapshot })), value);
  },
};

server = await startServer();
const results = {};
for (const [title, prove] of Object.entries(PROOFS)) {
  server.reset();
  try {
    await prove();
    results[title] = "ok";
  } catch (error) {
    results[title] = String(error?.stack ?? error);
    server ??= await startServer();
  }
}
await server.stop();
process.send?.(results);
if (process.send === undefined) console.log(results);
process.exit(0);
