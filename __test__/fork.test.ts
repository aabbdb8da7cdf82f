import { runFrame, runWith, type AgentSnapshot } from "agent-rewind";
import { dumpSnapshot, forkSnapshot, restoreSnapshot, stringifySnapshot, type ForkChange } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";

import {
  abcd,
  at,
  callsIn,
  forkError,
  forks,
  framesIn,
  parsed,
  record,
  replayed,
  steps,
  type Program,
} from "./support/fork.js";
import { nested } from "./support/scenarios.js";
import { recorded } from "./support/traces.js";
import { tree } from "./support/tree.js";

describe("forkSnapshot", () => {
  it("names its source in the fork and keeps the other fields", async () => {
    const source = await runWith(async () => {
      await abcd(steps().step);
      return dumpSnapshot({ metadata: { ticket: 7 } });
    });
    const fork = forkSnapshot(source, { at: at("b"), drop: true });
    expect(fork.processId).toBe(`fork:${source.processId}:${fork.timestamp}`);
    expect(fork.timestamp).toBeGreaterThanOrEqual(source.timestamp);
    const forkedFrom = { processId: source.processId, timestamp: source.timestamp };
    expect(fork.provenance).toEqual({ ...source.provenance, forkedFrom });
    expect(fork).toMatchObject({ version: 1, metadata: { ticket: 7 } });
    expect(Object.keys(fork)).toEqual(Object.keys(source));
    expect((JSON.parse(stringifySnapshot(fork)) as AgentSnapshot).provenance.forkedFrom).toEqual(forkedFrom);
    const again = forkSnapshot(fork, []);
    expect(again.provenance.forkedFrom).toEqual({ processId: fork.processId, timestamp: fork.timestamp });
  });

  it("without changes returns a copy that shares nothing", async () => {
    const { run, model } = tree();
    for (const source of [
      await record(run, { model }),
      restoreSnapshot(recorded("f-reborn-3").jsonl),
      recorded("b-tool-loop").dump("mid"),
      recorded("m-same-prompt-thrice").dump("end"),
    ]) {
      const [fork] = forks(source, []) as [AgentSnapshot];
      const copy = parsed(source);
      expect(fork.root).toEqual(copy.root);
      fork.root.memory["changed"] = true;
      fork.root.children = {};
      fork.provenance.traceId = "changed";
      expect(parsed(source)).toEqual(copy);
    }
  });

  it("does not touch the handle of its source, which still replays unparsed", async () => {
    const source = await record(abcd);
    Object.freeze(source);
    forks(source, { at: at("a"), output: "other" });
    expect(await replayed(abcd, source)).toEqual({ result: ["a!", "b!", "c!", "d!"], liveCalls: [] });
  });

  it("also forks a snapshot whose frames were read and edited", async () => {
    const source = await record(abcd);
    source.root.memory["note"] = "kept";
    for (const fork of forks(source, { at: at("c"), drop: true })) {
      expect((await replayed(abcd, fork)).liveCalls).toEqual(["c", "d"]);
      expect(fork.root.memory["note"]).toBe("kept");
    }
  });
});

describe("forkSnapshot of a fork", () => {
  it("adds its changes to the earlier ones", async () => {
    const source = await record(abcd);
    const [first] = forks(source, { at: at("a"), output: "1" }) as [AgentSnapshot];
    const [second] = forks(first, { at: at("c"), drop: true }) as [AgentSnapshot];
    const [third] = forks(second, { at: at("c"), output: "3" }) as [AgentSnapshot];
    expect(await replayed(abcd, second)).toEqual({ result: ["1", "b!", "c!", "d!"], liveCalls: ["c", "d"] });
    expect(await replayed(abcd, third)).toEqual({ result: ["1", "b!", "3", "d!"], liveCalls: ["d"] });
    expect(await replayed(abcd, source)).toEqual({ result: ["a!", "b!", "c!", "d!"], liveCalls: [] });
    expect(third.provenance.forkedFrom?.processId).toBe(second.processId);
  });

  it("also forks the snapshot of a run that replayed a fork", async () => {
    const fork = forkSnapshot(await record(abcd), { at: at("b"), output: "B" });
    const dump = await runWith(
      async () => {
        await abcd(steps().step);
        return dumpSnapshot();
      },
      { snapshot: fork },
    );
    const second = forkSnapshot(dump, { at: at("d"), drop: true });
    expect(await replayed(abcd, second)).toEqual({ result: ["a!", "B", "c!", "d!"], liveCalls: ["d"] });
  });
});

describe("forkSnapshot of a snapshot without lists of calls", () => {
  /** Journal rows only, as in old dumps and handmade snapshots. */
  async function handMade(program: Program): Promise<AgentSnapshot> {
    const snapshot = await record(program);
    for (const { frame, generation } of framesIn(snapshot.root).map((each) => ({
      frame: each,
      generation: each.generation,
    }))) {
      for (const field of ["calls", "startOrder", "endOrder", "memoryHashes"] as const) delete frame[field];
      if (generation !== undefined) delete frame.generation;
    }
    return snapshot;
  }
  const twice: Program<unknown[]> = async (step) => {
    const inner = (): Promise<unknown> => runFrame({ id: "inner", input: {} }, () => step("same"));
    return [await step("same"), await step("same"), await step("other"), await inner()];
  };
  const hashOf = (snapshot: AgentSnapshot, output: string): string => {
    const rows = Object.values(parsed(snapshot).root.journal.other?.["step"] ?? {});
    return rows.find((row) => row.output === output)?.contentHash ?? "";
  };

  it("drops only the row itself", async () => {
    const source = await handMade(twice);
    const contentHash = hashOf(source, "same!");
    for (const fork of forks(source, { at: { contentHash, frame: "root" }, drop: true })) {
      expect(await replayed(twice, fork)).toEqual({
        result: ["same!", "same!", "other!", "same!"],
        liveCalls: ["same", "same"],
      });
      expect(fork.root.state.status).toBe("running");
    }
    const error = forkError(source, { at: { contentHash }, drop: true });
    expect(error).toMatchObject({ path: "changes.at", known: ["root", "root/agent:inner:0"] });
  });

  it("uses an output for every occurrence of the request, and an output that a row cannot hold only once", async () => {
    const source = await handMade(twice);
    const target = { contentHash: hashOf(source, "same!"), frame: "root" };
    for (const output of ["new", { list: [] }, null]) {
      for (const fork of forks(source, { at: target, output })) {
        expect(await replayed(twice, fork)).toEqual({ result: [output, output, "other!", "same!"], liveCalls: [] });
      }
    }
    for (const output of [new Date(1), undefined]) {
      for (const fork of forks(source, { at: target, output })) {
        expect(await replayed(twice, fork)).toEqual({
          result: [output, "same!", "other!", "same!"],
          liveCalls: ["same"],
        });
      }
    }
    for (const fork of forks(source, { at: target, error: new Error("no") })) {
      const failing: Program = (step) => step("same").catch((error: Error) => error.message);
      expect(await replayed(failing, fork)).toEqual({ result: "no", liveCalls: [] });
    }
  });

  it("executes only a dropped sub-agent again", async () => {
    for (const fork of forks(await handMade(twice), { at: "root/agent:inner:0", drop: true })) {
      expect((await replayed(twice, fork)).liveCalls).toEqual(["same"]);
    }
  });

  it("names the contentHash because there are no callIds", async () => {
    expect(forkError(await handMade(abcd), { at: at("a"), drop: true }).message).toContain("use their contentHash");
  });

  it("accepts dumps of @rejelly/core", async () => {
    const { dump } = recorded("c-nested-3");
    const checker = framesIn(dump("end").root).find(({ agentId }) => agentId === "checker");
    const [contentHash = ""] = Object.keys(checker?.journal.tool ?? {});
    const scenario = nested();
    const fork = forkSnapshot(dump("end"), { at: { contentHash }, drop: true });
    expect(await runWith(() => scenario.run(), { snapshot: fork })).toEqual(scenario.expected);
    expect(scenario.counts()).toEqual({ model: 0, tool: 1 });
  });
});

describe("forkSnapshot rejects", () => {
  const source = record(async (step) => {
    for (const name of ["search", "fetch", "summarise"]) await step(name);
    await runFrame({ id: "writer", input: {} }, () => step("search"));
  });

  it("an unknown name, and lists the existing names, the nearest first", async () => {
    const error = forkError(await source, [{ at: "root/step:serch:0", drop: true }]);
    expect(error).toMatchObject({ path: "changes.0.at", at: "root/step:serch:0" });
    expect(error.known).toHaveLength(6);
    expect(error.known[0]).toBe("root/step:search:0");
    expect(error.message).toMatch(
      /^forkSnapshot: changes\.0\.at: no call or frame "root\/step:serch:0" in the snapshot\. There are: "root\/step:search:0", /,
    );
  });

  it("an unknown name among many, and says how many more there are", async () => {
    const many = await record(async (step) => {
      for (let index = 0; index < 30; index += 1) await step(`step ${index}`);
    });
    const error = forkError(many, { at: at("step 17", 1), drop: true });
    expect(error.known).toHaveLength(31);
    expect(error.known[0]).toBe(at("step 17"));
    expect(error.message).toMatch(/, and 11 more\.$/);
    expect(error.message.split('", "')).toHaveLength(20);
  });

  it("an unknown contentHash, frame or kind, and lists the existing ones", async () => {
    const snapshot = await source;
    const { contentHash = "" } = callsIn(parsed(snapshot).root)[0] ?? {};
    expect(forkError(snapshot, { at: { contentHash: "0".repeat(64) }, drop: true }).known).toContain(contentHash);
    expect(forkError(snapshot, { at: { contentHash, frame: "root/agent:writter:0" }, drop: true })).toMatchObject({
      path: "changes.at.frame",
      known: ["root/agent:writer:0", "root"],
    });
    expect(forkError(snapshot, { at: { contentHash, kind: "tool" }, drop: true })).toMatchObject({
      path: "changes.at.kind",
      known: ["step"],
    });
    const [, fetched] = parsed(snapshot).root.calls ?? [];
    const elsewhere = forkError(snapshot, {
      at: { contentHash: fetched?.contentHash, frame: "root/agent:writer:0" },
      drop: true,
    });
    expect(elsewhere.message).toContain('of kind "step" in "root"');
    const tooFar = forkError(snapshot, { at: { contentHash, occurrence: 2 }, drop: true });
    expect(tooFar).toMatchObject({ path: "changes.at.occurrence" });
    expect(tooFar.message).toContain("2, from 0 to 1");
  });

  it("a change of a call that another change drops", async () => {
    const changes: ForkChange[] = [
      { at: at("search"), drop: true },
      { at: at("fetch"), output: "x" },
    ];
    for (const order of [changes, changes.toReversed()]) {
      const error = forkError(await source, order);
      expect(error.at).toBe(at("fetch"));
      expect(error.message).toContain(`"${at("fetch")}" is dropped by another change`);
    }
    const inside: ForkChange[] = [
      { at: "root/agent:writer:0", drop: true },
      { at: "root/agent:writer:0/step:search:0", error: new Error("x") },
    ];
    expect(forkError(await source, inside).path).toBe("changes.1");
  });

  it.each([
    ["no change", undefined, "changes", "expected an object such as { at, output }, received undefined"],
    ["a misspelled key", { at: "root", ouput: 1 }, "changes", 'unknown key "ouput". Did you mean "output"?'],
    ["a misspelled key of at", { at: { contenthash: "x" }, drop: true }, "changes.at", 'Did you mean "contentHash"?'],
    ["nothing to change", { at: at("search") }, "changes", "nothing to change: set drop, output, error or memory"],
    ["output and error", { at: at("search"), output: 1, error: new Error("x") }, "changes", "not both"],
    ["no at", { drop: true }, "changes.at", "expected a callId"],
    ["two names", { at: { callId: "x", contentHash: "y" }, drop: true }, "changes.at", "not both"],
    [
      "a frame next to a callId",
      { at: { callId: "x", frame: "root" }, drop: true },
      "changes.at",
      "go with contentHash",
    ],
    [
      "a wrong occurrence",
      { at: { callId: "x", occurrence: -1 }, drop: true },
      "changes.at.occurrence",
      "whole number",
    ],
    [
      "a number for a name",
      [{ at: { callId: 5 }, drop: true }],
      "changes.0.at.callId",
      "expected a string, received 5",
    ],
    ["drop: false", { at: at("search"), drop: false }, "changes.drop", "expected true"],
    [
      "an output that cannot be recorded",
      { at: at("search"), output: { run: () => {} } },
      "changes.output",
      "the value at /run cannot be recorded: function",
    ],
    [
      "a value that is not an error",
      { at: at("search"), error: "no" },
      "changes.error",
      "expected an Error, or { name, message }",
    ],
    [
      "memory that is no object",
      { at: "root", memory: [] },
      "changes.memory",
      "expected an object with the keys to change",
    ],
    [
      "memory that is not JSON",
      { at: "root", memory: { when: { at: new Date(0) } } },
      "changes.memory.when",
      "the value at /at is not JSON (date)",
    ],
  ])("%s", async (_what, changes, path, message) => {
    const error = forkError(await source, changes);
    expect(error.path).toBe(path);
    expect(error.message).toContain(`forkSnapshot: ${path}: `);
    expect(error.message).toContain(message);
  });

  it("a value that is not a snapshot, and lists its faults", () => {
    expect(() => forkSnapshot({ root: {} } as AgentSnapshot, [])).toThrow(/^Invalid Snapshot format: /);
  });
});
