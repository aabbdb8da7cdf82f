// `agent-rewind runs …`: the runs of a store on the command line.
import { rmSync } from "node:fs";
import { join } from "node:path";

import { journalCall } from "agent-rewind";
import { readSnapshot } from "agent-rewind/debugger";
import { durable, openStore, type RunStore } from "agent-rewind/store";
import { afterAll, beforeAll, expect, it } from "vitest";

import { temporaryFolder } from "../support/process.js";
import { cli, type Ended } from "./support.js";

let folder: string;
let store: RunStore;
beforeAll(async () => {
  folder = temporaryFolder();
  store = await openStore(`sqlite:${join(folder, "runs.db")}`);
  await durable(store, { id: "done", agent: "writer" }, () =>
    journalCall({ kind: "step", name: "a", request: {} }, () => "answer"),
  );
  await durable(store, { id: "unpaid" }, () =>
    journalCall({ kind: "pay", name: "pay", request: {}, effect: "once" }, () => {
      throw new Error("time-out\u001b[31m");
    }),
  ).catch(() => {});
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const runs = (...args: string[]): Ended => cli(["runs", ...args, "--store", "sqlite:runs.db"], { cwd: folder });

it("lists and shows runs", () => {
  const { code, out } = runs("list");
  expect(code).toBe(0);
  expect(out).toMatch(/failed +unpaid .*Error: time-out/);
  expect(out).toMatch(/completed +done {2}writer {2}1 calls/);
  expect(out).not.toContain("\u001b");
  expect(JSON.parse(runs("list", "--agent", "writer", "--json").out)).toMatchObject([{ id: "done" }]);
  expect(runs("show", "unpaid").out).toMatch(/uncertain +root\/pay:pay:0 /);
  expect(JSON.parse(runs("show", "unpaid", "--json").out)).toMatchObject({ effects: [{ state: "intent" }] });
});

it("exports a snapshot", async () => {
  expect(runs("export", "done", "-o", "done.json")).toEqual({ code: 0, out: "", err: expect.anything() });
  expect((await readSnapshot(join(folder, "done.json"))).root.calls).toMatchObject([{ callId: "root/step:a:0" }]);
});

it("settles an uncertain call, and prunes", async () => {
  expect(runs("settle", "unpaid", "root/pay:pay:0", "--output", '{"id":"ch_1"}').code).toBe(0);
  expect(
    await durable(store, { id: "unpaid" }, () =>
      journalCall({ kind: "pay", name: "pay", request: {}, effect: "once" }, () => "again"),
    ),
  ).toEqual({ id: "ch_1" });
  expect(runs("prune", "--older-than", "1d").out).toBe("deleted 0 runs\n");
});

it.each([
  [["list"], 0, ""],
  [["show"], 2, "runs show takes the id of a run"],
  [["show", "none"], 3, 'the store has no run "none"'],
  [["settle", "unpaid", "x", "--not-done"], 3, "has no uncertain call"],
  [["settle", "unpaid", "x"], 2, "needs --output or --not-done"],
  [["prune"], 2, "needs --older-than"],
  [["copy"], 2, "runs needs a subcommand"],
])("%j exits with %i", (args, code, message) => {
  const ended = runs(...args);
  expect(ended.code).toBe(code);
  expect(ended.err).toContain(message);
});
