// Each message of a conversation is hashed once. Whatever happens to a message later, the hash of the next turn is the
// hash of what was sent.

import { createAgent, equipInstruction, equipTool, promptAgent, runWith, type Message, type Tool } from "agent-rewind";
import { contentHash, dumpSnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { recorder } from "../support/recorder.js";
import { result, scriptedModel, toolCall } from "../support/scripted-model.js";

const Result = z.object({ result: z.string() });

interface Turn {
  contentHash?: string | undefined;
  messages: readonly Message[];
}

/** Runs an agent that calls a tool `rounds` times. Returns its turns and the hashes in the journal. */
async function turnsOf(
  rounds: number,
  { handler, instruction = "go", meddle }: Partial<Options> = {},
): Promise<{ turns: Turn[]; ends: Turn[]; hashes: string[]; documents: object[] }> {
  const tool: Tool = {
    name: "look_up",
    description: "looks up",
    parameters: z.object({ round: z.number() }),
    handler: handler ?? (({ round }: { round: number }) => ({ round })),
  };
  const documents: object[] = [];
  const model = scriptedModel("m", (messages, options) => {
    const { schema, tools } = options ?? {};
    documents.push(structuredClone({ messages, model: { id: "m" }, schema, tools }));
    meddle?.(messages);
    const round = messages.filter(({ role }) => role === "tool").length;
    return round < rounds ? toolCall(`c${round}`, "look_up", { round }) : result("ok");
  });
  const agent = createAgent({
    id: "asker",
    handler: async () => {
      equipInstruction(instruction);
      equipTool(tool);
      return promptAgent(Result);
    },
  });
  const events = recorder();
  let hashes: string[] = [];
  await runWith(
    async () => {
      await agent();
      const [frame] = Object.values(dumpSnapshot().root.children);
      hashes = Object.keys(frame?.journal.prompt ?? {});
    },
    { model, enableSnapshot: true, eventBus: events },
  );
  return { turns: events.of("turn:start"), ends: events.of("turn:end"), hashes, documents };
}

interface Options {
  handler: (input: { round: number }) => unknown;
  instruction: string;
  meddle: (messages: Message[]) => void;
}

const hashesOf = (turns: readonly Turn[]): unknown[] => turns.map((turn) => turn.contentHash);

describe("the hash of a turn", () => {
  it("is the hash of the whole document for every turn", async () => {
    const { turns, hashes, documents } = await turnsOf(3);
    expect(hashesOf(turns)).toEqual(documents.map((document) => contentHash(JSON.stringify(document))));
    expect(hashes).toEqual(hashesOf(turns));
  });

  it("does not depend on changes by an adapter to messages that were already hashed", async () => {
    const calm = await turnsOf(2);
    const meddled = await turnsOf(2, {
      meddle: (messages) => {
        messages.push({ role: "user", content: "mine" });
        try {
          (messages[0] as { content: unknown }).content = "changed";
        } catch (error) {
          // A hashed message is frozen.
          expect(error).toBeInstanceOf(TypeError);
        }
      },
    });
    expect(hashesOf(meddled.turns)).toEqual(hashesOf(calm.turns));
    expect(meddled.turns.at(-1)?.messages).toEqual(calm.turns.at(-1)?.messages);
  });

  it("does not depend on later changes of a tool's output", async () => {
    const shared = { list: [1] };
    const frozenOutside = Object.freeze([shared]);
    const { turns, documents } = await turnsOf(3, {
      handler: () => {
        shared.list.push(shared.list.length + 1);
        return frozenOutside;
      },
    });
    expect(hashesOf(turns)).toEqual(documents.map((document) => contentHash(JSON.stringify(document))));
    // Only the outer array is frozen. Each turn contains the output as it was when it was returned.
    const answers = turns
      .at(-1)
      ?.messages.filter(({ role }) => role === "tool")
      .map(({ content }) => content);
    expect(answers).toEqual(['[{"list":[1,2]}]', '[{"list":[1,2,3]}]', '[{"list":[1,2,3,4]}]']);
  });

  it("is the same for equal messages that are not identical", async () => {
    const [one, other] = [
      await turnsOf(2),
      await turnsOf(2, { handler: ({ round }) => JSON.parse(`{"round":${round}}`) }),
    ];
    expect(hashesOf(one.turns)).toEqual(hashesOf(other.turns));
  });

  it("differs from the first turn with a different message on", async () => {
    const [one, other] = [await turnsOf(2), await turnsOf(2, { instruction: "go!" })];
    const hashes = new Set([...hashesOf(one.turns), ...hashesOf(other.turns)]);
    expect(hashes.size).toBe(one.turns.length + other.turns.length);
    const late = await turnsOf(2, { handler: ({ round }) => ({ round: round === 1 ? 7 : round }) });
    expect(hashesOf(late.turns).slice(0, 2)).toEqual(hashesOf(one.turns).slice(0, 2));
    expect(hashesOf(late.turns)[2]).not.toBe(hashesOf(one.turns)[2]);
  });
});

describe("the messages in events", () => {
  it("are one frozen list per turn, which later turns do not change", async () => {
    const { turns, ends } = await turnsOf(2);
    expect(turns.map(({ messages }) => messages.length)).toEqual([1, 3, 5]);
    for (const [index, { messages }] of turns.entries()) {
      expect(ends[index]?.messages).toBe(messages);
      expect(Object.isFrozen(messages)).toBe(true);
      for (const message of messages) expect(Object.isFrozen(message)).toBe(true);
    }
  });
});
