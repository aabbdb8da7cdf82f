import {
  AfterPromptAgentError,
  createAgent,
  equipInstruction,
  equipMemory,
  equipSystem,
  equipTool,
  isAfterPromptAgentError,
  isContextNotFoundError,
  promptAgent,
  reborn,
  runWith,
  type Tool,
} from "agent-rewind";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { result, scriptedModel } from "../support/scripted-model.js";

const Result = z.object({ result: z.string() });
const lookUp: Tool = {
  name: "look_up",
  description: "looks up",
  parameters: z.object({ key: z.string() }),
  handler: ({ key }: { key: string }) => ({ key }),
};

describe("equip functions", () => {
  const equips = {
    equipSystem: () => equipSystem("late"),
    equipInstruction: () => equipInstruction("late"),
    equipTool: () => equipTool(lookUp),
    promptAgent: () => promptAgent(Result),
  };
  const thrownBy = async (call: () => unknown): Promise<unknown> => {
    try {
      await call();
      return "nothing";
    } catch (error) {
      return error;
    }
  };
  const model = scriptedModel("m", () => result("ok"));

  it.each(Object.entries(equips))("throw after the prompt: %s", async (apiName, equip) => {
    const agent = createAgent({
      id: "late",
      model,
      handler: async () => {
        await promptAgent(Result);
        return thrownBy(equip);
      },
    });
    const error = await agent();
    expect(isAfterPromptAgentError(error)).toBe(true);
    expect(error).toBeInstanceOf(AfterPromptAgentError);
    expect(error).toMatchObject({ apiName });
  });

  it("throw as soon as the prompt has started", async () => {
    const agent = createAgent({
      id: "hasty",
      model,
      handler: async () => {
        const [first, second] = await Promise.allSettled([promptAgent(Result), promptAgent(Result)]);
        const equip = await thrownBy(equips.equipSystem);
        return [
          first.status,
          isAfterPromptAgentError((second as PromiseRejectedResult).reason),
          isAfterPromptAgentError(equip),
        ];
      },
    });
    expect(await agent()).toEqual(["fulfilled", true, true]);
  });

  it("work again in the next generation; equipMemory always works", async () => {
    const agent = createAgent<number, unknown>({
      id: "reborn",
      model,
      handler: async (round) => {
        equipInstruction(`round ${round}`);
        await promptAgent(Result);
        const [, set] = equipMemory("rounds", 0);
        set((rounds) => rounds + 1);
        return round === 0 ? reborn(1) : equipMemory("rounds", 0)[0];
      },
    });
    expect(await agent(0)).toBe(2);
  });

  it.each([...Object.entries(equips), ["equipMemory", () => equipMemory("k", 0)] as const])(
    "require an agent or a run: %s",
    async (apiName, equip) => {
      const error = await thrownBy(equip);
      expect(isContextNotFoundError(error)).toBe(true);
      expect(error).toMatchObject({ apiName, message: expect.stringContaining(`${apiName}()`) as unknown });
    },
  );

  it.each([
    [undefined, /tool\.name/],
    [{ ...lookUp, name: "" }, /tool\.name/],
    [{ ...lookUp, handler: "no function" }, /equipTool\("look_up"\): tool\.handler/],
  ])("reject an invalid tool: %o", async (tool, message) => {
    await runWith(() => {
      expect(() => equipTool(tool as never)).toThrow(TypeError);
      expect(() => equipTool(tool as never)).toThrow(message);
    });
  });

  it("affect only the agent in which they are called", async () => {
    const child = createAgent({
      id: "child",
      handler: async () => {
        equipInstruction("for the child");
        return promptAgent(Result);
      },
    });
    const seen = scriptedModel("m", () => result("ok"));
    await runWith(
      async () => {
        equipSystem("for the run");
        await child();
        return promptAgent(Result);
      },
      { model: seen },
    );
    expect(seen.calls.map(({ messages }) => messages.map(({ role }) => role))).toEqual([["user"], ["system"]]);
  });
});
