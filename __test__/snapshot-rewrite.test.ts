import { callTool, journalCall, equipMemory, runFrame, runWith, type AgentSnapshot, type Tool } from "agent-rewind";
import { contentHash, dumpSnapshot, forkSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const rewritten = (snapshot: AgentSnapshot): AgentSnapshot => parseSnapshot(stringifySnapshot(snapshot));
const step = (request: string): Promise<string> => journalCall({ kind: "step", name: "s", request }, () => request);

async function dumpOf(program: () => Promise<unknown>): Promise<AgentSnapshot> {
  let snapshot: AgentSnapshot | undefined;
  await runWith(async () => {
    await program();
    snapshot = dumpSnapshot();
  });
  return snapshot as AgentSnapshot;
}

describe("a snapshot that is parsed and stringified again", () => {
  it("is the same text", async () => {
    const snapshot = await dumpOf(() =>
      runFrame({ id: "a", input: {} }, async () => {
        equipMemory("k", 1)[1](2);
        await step("x");
      }),
    );
    const text = stringifySnapshot(snapshot);
    expect(stringifySnapshot(parseSnapshot(text))).toBe(text);
  });

  it("still knows which memory keys were edited, added or removed", async () => {
    const program = (seen: unknown[]) => () =>
      runFrame({ id: "a", input: {} }, async () => {
        for (const key of ["kept", "edited", "gone", "added"]) {
          const [value, set] = equipMemory(key, `first ${key}`);
          seen.push(value);
          if (key !== "added") set(`last ${key}`);
        }
        await step("x");
      });
    const dumped = await dumpOf(program([]));
    const copy = JSON.parse(stringifySnapshot(dumped)) as AgentSnapshot;
    const frame = copy.root.children["root/agent:a:0"];
    Object.assign(frame?.memory ?? {}, { edited: "by hand", new: "by hand" });
    delete frame?.memory["gone"];
    const once = rewritten(copy);
    const twice = rewritten(once);
    const hashes = JSON.parse(stringifySnapshot(twice)).root.children["root/agent:a:0"].memoryHashes as object;
    expect(hashes).toEqual({
      kept: contentHash('"last kept"'),
      added: contentHash('"first added"'),
      edited: "",
      new: "",
      gone: "",
    });
    for (const snapshot of [copy, once, twice, forkSnapshot(twice, [])]) {
      const seen: unknown[] = [];
      await runWith(program(seen), { snapshot });
      expect(seen).toEqual(["first kept", "by hand", "first gone", "first added"]);
    }
  });
});

describe("a row that no call refers to", () => {
  const tool: Tool = { name: "t", description: "", parameters: z.looseObject({}), handler: () => "made" };

  it("answers any number of calls, also in a dump of the run that it answered", async () => {
    const bare = await dumpOf(() => callTool(tool, {}));
    const old = JSON.parse(stringifySnapshot(bare)) as AgentSnapshot;
    // Like recordings without a list of calls.
    delete old.root.calls;
    const row = Object.values(old.root.journal.tool)[0];
    Object.assign(row ?? {}, { output: "recorded" });
    let snapshot = old;
    for (let round = 0; round < 3; round += 1) {
      const answers: unknown[] = [];
      let next: AgentSnapshot | undefined;
      await runWith(
        async () => {
          for (let ask = 0; ask <= round; ask += 1) answers.push(await callTool(tool, {}));
          next = dumpSnapshot();
        },
        { snapshot },
      );
      expect(answers).toEqual(Array.from({ length: round + 1 }, () => "recorded"));
      snapshot = rewritten(next as AgentSnapshot);
    }
  });
});
