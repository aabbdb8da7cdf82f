import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { expect, test } from "vitest";

import { cli, execute, folder, modelServer, program } from "./support.js";

test("a program is recorded and replayed without a change in it, and without a network", async () => {
  const server = await modelServer();
  const file = join(folder(), "run.jsonl");
  const env = { BASE: server.base };
  const recorded = await cli(["run", "-o", file, "--", process.execPath, program("clients.mjs")], env);
  expect(recorded).toMatchObject({ code: 0, signal: null });
  expect(recorded.err).toBe(`agent-rewind: recorded ${file}\n`);
  expect(server.asked).toHaveLength(12);

  server.close();
  const replayed = await cli(["replay", file, "--", process.execPath, program("clients.mjs")], env);
  expect(replayed).toEqual({ code: 0, signal: null, out: recorded.out, err: "" });
});

test("a changed request is not answered: the reason is printed, and the exit code is not 0", async () => {
  const server = await modelServer();
  const file = join(folder(), "run.jsonl");
  const env = { BASE: server.base };
  await cli(["run", "-o", file, "--", process.execPath, program("clients.mjs")], env);
  const asked = server.asked.length;
  const changed = { ...env, QUESTION: "Goodbye" };
  const replayed = await cli(["replay", file, "--", process.execPath, program("clients.mjs")], changed);
  expect(replayed.code).toBe(1);
  expect(replayed.err).toMatch(/^agent-rewind: ReplayMissError: The recording has no answer for the fetch call/);
  expect(replayed.err).toContain(`To see the recorded calls: npx agent-rewind inspect ${file}`);
  expect(server.asked).toHaveLength(asked);
});

test("a missing answer fails the process, even if the program catches the error", async () => {
  const server = await modelServer();
  const file = join(folder(), "run.jsonl");
  const env = { BASE: server.base };
  await cli(["run", "-o", file, "--", process.execPath, program("three.mjs")], { ...env, END: "exit" });
  const replayed = await cli(["replay", file, "--", process.execPath, program("three.mjs")], env);
  expect(replayed.code).toBe(1);
  expect(replayed.out).toContain("caught ReplayMissError");
  expect(server.asked).toEqual(["/1", "/2"]);
});

test.each([
  ["exit", { code: 0, signal: null }],
  ["throw", { code: 1, signal: null }],
  ["kill", { code: 137, signal: null }],
])("a program that ends by %s leaves all calls that have ended, and can be resumed", async (END, ended) => {
  const server = await modelServer();
  const at = folder();
  const file = join(at, "run.jsonl");
  const env = { BASE: server.base };
  const recorded = await cli(["run", "-o", file, "--", process.execPath, program("three.mjs")], { ...env, END });
  expect(recorded).toMatchObject(ended);

  const output = join(at, "resumed.jsonl");
  const resume = ["replay", file, "--resume", "-o", output, "--", process.execPath, program("three.mjs")];
  const resumed = await cli(resume, env);
  expect(resumed.code).toBe(0);
  expect(resumed.out.startsWith(recorded.out)).toBe(true);
  expect(server.asked).toEqual(["/1", "/2", "/3"]);
  const replayed = await cli(["replay", output, "--", process.execPath, program("three.mjs")], env);
  expect(replayed).toMatchObject({ code: 0, out: resumed.out });
  expect(server.asked).toHaveLength(3);
});

test("threads and child processes are recorded in the same file, and find their own runs again", async () => {
  const server = await modelServer();
  const file = join(folder(), "run.jsonl");
  const env = { BASE: server.base };
  const recorded = await cli(["run", "-o", file, "--", process.execPath, program("parts.mjs")], env);
  expect(server.asked).toEqual(["/program", "/thread", "/child"]);
  expect(recorded.err).toContain("not recorded: SPAWN");
  const replayed = await cli(["replay", file, "--", process.execPath, program("parts.mjs")], env);
  expect(replayed).toMatchObject({ code: 0, out: recorded.out });
  expect(server.asked).toHaveLength(3);
});

test("a CommonJS program is recorded by --import, in a file of its own choice", async () => {
  const server = await modelServer();
  const file = join(folder(), "run.jsonl");
  const register = pathToFileURL(program("../../../dist/register/index.mjs")).href;
  const args = [`--import=${register}`, program("common.cjs")];
  const env = { BASE: server.base, AGENT_REWIND_FILE: file };
  const recorded = await execute(args, env);
  expect(recorded.code).toBe(0);
  const replayed = await execute(args, { ...env, AGENT_REWIND: "replay" });
  expect(replayed).toMatchObject({ code: 0, out: recorded.out });
  expect(server.asked).toEqual(["/common"]);
});

test("tools of frameworks and of MCP servers are answered, not executed again", async () => {
  const server = await modelServer();
  const at = folder();
  const file = join(at, "run.jsonl");
  const executed = join(at, "executed.txt");
  const env = { BASE: server.base, EXECUTED: executed };
  const recorded = await cli(["run", "-o", file, "--", process.execPath, program("tools.mjs")], env);
  expect(recorded).toMatchObject({ code: 0, out: expect.stringContaining("Oslo: 0.") });
  expect(readFileSync(executed, "utf8")).toBe("ai-sdk\nlangchain\nmcp\n");
  const replayed = await cli(["replay", file, "--", process.execPath, program("tools.mjs")], env);
  expect(replayed).toMatchObject({ code: 0, out: recorded.out });
  expect(readFileSync(executed, "utf8")).toBe("ai-sdk\nlangchain\nmcp\n");
  expect(server.asked).toHaveLength(2);
});

test("secrets are not recorded", async () => {
  const server = await modelServer();
  const file = join(folder(), "run.jsonl");
  await cli(["run", "-o", file, "--", process.execPath, program("three.mjs")], { BASE: server.base });
  const text = readFileSync(file, "utf8");
  expect(text).toContain("call:end");
  expect(text).not.toContain("sk-live-0123456789");
});

test.each([
  ["msw.mjs", ["/beside"]],
  ["nock.mjs", ["/beside", "/after"]],
])("a mock in the same process works: %s", async (name, sent) => {
  const server = await modelServer();
  const file = join(folder(), "run.jsonl");
  const env = { BASE: server.base };
  const plain = await execute([program(name)], env);
  const recorded = await cli(["run", "-o", file, "--", process.execPath, program(name)], env);
  expect(recorded).toMatchObject({ code: 0, signal: null });
  expect(recorded.out).toContain("from the mock 1");
  expect(recorded.out.replaceAll(/answer \d/g, "")).toBe(plain.out.replaceAll(/answer \d/g, ""));
  const replayed = await cli(["replay", file, "--", process.execPath, program(name)], env);
  expect(replayed).toMatchObject({ code: 0, out: recorded.out });
  expect(server.asked).toEqual([...sent, ...sent]);
});

test("what cannot be replayed is refused before the program starts", async () => {
  const at = folder();
  const script = join(at, "program.mjs");
  writeFileSync(script, 'console.log("started");');
  const replay = (file: string): Promise<object> => cli(["replay", file, "--", process.execPath, script]);
  expect(await replay(join(at, "none.jsonl"))).toMatchObject({ code: 3, out: "" });
  const wrong = join(at, "wrong.jsonl");
  writeFileSync(wrong, "no recording\n");
  expect(await replay(wrong)).toMatchObject({ code: 3, out: "", err: expect.stringContaining(wrong) });
  const live = join(at, "live.jsonl");
  const { pid } = process;
  const attributes = { "process.pid": pid, "process.host": (await import("node:os")).hostname() };
  const trace = {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "00f067aa0ba902b7",
    parentSpanId: "",
    attributes,
  };
  writeFileSync(live, `${JSON.stringify({ type: "runWith:start", agentId: "", timestamp: 1, _seq: 0, trace })}\n`);
  const writing = expect.stringContaining(`is still being written by process ${pid}`);
  expect(await replay(live)).toMatchObject({ code: 3, out: "", err: writing });

  const existing = await cli(["run", "-o", wrong, "--", process.execPath, script]);
  expect(existing).toMatchObject({ code: 3, out: "", err: expect.stringContaining("exists already") });
  const unknown = await cli(["run", "-o", join(at, "a.jsonl"), "--", process.execPath, "--version"], {});
  expect(unknown).toMatchObject({ code: 0, err: expect.stringContaining("nothing was recorded") });
  expect(existsSync(join(at, "a.jsonl"))).toBe(false);

  const register = pathToFileURL(program("../../../dist/register/index.mjs")).href;
  const mode = await execute([`--import=${register}`, script], { AGENT_REWIND: "recrod" });
  expect(mode).toMatchObject({ code: 2, out: "", err: expect.stringContaining("record, replay, resume, off") });
});
