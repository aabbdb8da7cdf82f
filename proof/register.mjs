// node proof/register.mjs: what `agent-rewind/register` records and replays, and what it costs. Needs Node.js 22.15.
//   --kills 100 --mutations 1000
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { kills: { type: "string", default: "100" }, mutations: { type: "string", default: "1000" } },
});
const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const register = pathToFileURL(at("dist/register/index.mjs")).href;
const folder = mkdtempSync(join(tmpdir(), "agent-rewind-proof-"));
let asked = 0;
const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (text) => (body += text));
  request.on("end", () => {
    asked += 1;
    const delta = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "a" } }] })}\n\ndata: [DONE]\n\n`;
    const choices = [{ index: 0, message: { role: "assistant", content: `answer ${asked}` }, finish_reason: "stop" }];
    const isStream = body.includes('"stream":true');
    response.setHeader("content-type", isStream ? "text/event-stream" : "application/json");
    response.end(isStream ? delta : JSON.stringify({ answer: asked, choices }));
  });
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${server.address().port}`;

/** Runs a program to its end, or kills it some time after its first output. */
function execute(script, env = {}, { imports = [register], killAfter } = {}) {
  const args = [...imports.map((url) => `--import=${url}`), script];
  const child = spawn(process.execPath, args, { env: { ...process.env, BASE: base, ...env } });
  let out = "";
  let err = "";
  child.stdout.on("data", (text) => {
    if (out === "" && killAfter !== undefined) setTimeout(() => child.kill("SIGKILL"), killAfter);
    out += text;
  });
  child.stderr.on("data", (text) => (err += text));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

function program(name, text) {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const table = {};
try {
  const file = join(folder, "clients.jsonl");
  const clients = at("__test__/register/programs/clients.mjs");
  const recorded = await execute(clients, { AGENT_REWIND_FILE: file });
  const before = asked;
  const replayed = await execute(clients, { AGENT_REWIND_FILE: file, AGENT_REWIND: "replay" });
  const lines = ({ out }) => out.split("\n").filter((line) => /^[a-z]/.test(line));
  const same = lines(recorded).filter((line) => lines(replayed).includes(line));
  table["client kinds replayed"] = `${same.length} of ${lines(recorded).length}, ${asked - before} requests sent`;

  const many = Number(values.mutations);
  const mutations = program(
    "mutations.mjs",
    `const text = "x".repeat(${many});
    const send = (n) => fetch(process.env.BASE + "/m", { method: "POST", body: n < 0 ? text : text.slice(0, n) + "y" + text.slice(n + 1) });
    if (process.env.AGENT_REWIND !== "replay") await (await send(-1)).text();
    else {
      let missed = 0;
      for (let n = 0; n < ${many}; n += 1) await send(n).catch((error) => (missed += error.name === "ReplayMissError"));
      console.log(missed);
    }`,
  );
  const mutated = join(folder, "mutations.jsonl");
  await execute(mutations, { AGENT_REWIND_FILE: mutated });
  const misses = await execute(mutations, { AGENT_REWIND_FILE: mutated, AGENT_REWIND: "replay" });
  table["requests with one changed byte"] = `${misses.out.trim()} misses of ${many}, exit code ${misses.code}`;

  const endless = program(
    "endless.mjs",
    `import { writeSync } from "node:fs";
    for (let n = 0; ; n += 1) {
      await (await fetch(process.env.BASE + "/k" + n)).text();
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      writeSync(1, n + "\\n");
    }`,
  );
  let lost = 0;
  let ended = 0;
  for (let kill = 0; kill < Number(values.kills); kill += 1) {
    const trace = join(folder, `kill-${kill}.jsonl`);
    const { out } = await execute(endless, { AGENT_REWIND_FILE: trace }, { killAfter: Math.random() * 300 });
    const calls = out.split("\n").length - 1;
    const ends = readFileSync(trace, "utf8").match(/^\{"type":"call:end"/gm)?.length ?? 0;
    ended += calls;
    lost += Math.max(0, calls - ends);
  }
  table[`${values.kills} SIGKILLs`] = `${lost} of ${ended} calls that the program had finished are missing`;

  const empty = program("empty.mjs", "");
  const median = async (action) => {
    const times = [];
    for (let n = 0; n < 15; n += 1) {
      const start = performance.now();
      await action();
      times.push(performance.now() - start);
    }
    return times.toSorted((a, b) => a - b)[7];
  };
  const plain = await median(() => execute(empty, {}, { imports: [] }));
  const registered = await median(() => execute(empty));
  table["start of an empty program"] = `+${(registered - plain).toFixed(0)} ms (${plain.toFixed(0)} ms without)`;

  const latency = program(
    "latency.mjs",
    `import http from "node:http";
    const agent = new http.Agent({ keepAlive: true });
    const kinds = {
      fetch: async () => (await fetch(process.env.BASE + "/l")).text(),
      http: () => new Promise((resolve, reject) => http.get(process.env.BASE + "/l", { agent }, (r) => r.resume().on("end", resolve)).on("error", reject)),
    };
    for (const kind of Object.values(kinds)) {
      const times = [];
      for (let n = 0; n < 300; n += 1) { const start = performance.now(); await kind(); times.push(performance.now() - start); }
      console.log(times.toSorted((a, b) => a - b)[150]);
    }
    process.exit();`,
  );
  const times = async (options) =>
    (await execute(latency, { AGENT_REWIND_FILE: join(folder, "latency.jsonl") }, options)).out.trim().split("\n");
  const direct = await times({ imports: [] });
  const through = await times();
  for (const [index, kind] of ["fetch", "node:http"].entries())
    table[`a request by ${kind}`] =
      `+${(through[index] - direct[index]).toFixed(2)} ms (${(+direct[index]).toFixed(2)} ms without)`;
} finally {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
}
for (const [name, figure] of Object.entries(table)) console.log(`${name.padEnd(34)}${figure}`);
