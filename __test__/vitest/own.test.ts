// A test of this package with a committed recording that is always replayed.
import { callTool, createAgent, equipInstruction, equipTool, promptAgent, runWith } from "agent-rewind";
import { test } from "agent-rewind/vitest";
import { describe, expect, expectTypeOf } from "vitest";
import { z } from "zod";

import { result, scriptedModel, toolCall } from "../support/scripted-model.js";

const weather = {
  name: "weather",
  description: "Tells the weather of a city",
  parameters: z.object({ city: z.string() }),
  handler: async ({ city }: { city: string }) => ({ city, celsius: 21, at: new Date(0) }),
};

const traveller = createAgent({
  id: "traveller",
  handler: async ({ city }: { city: string }) => {
    equipInstruction(`What should I wear in ${city}?`);
    equipTool(weather);
    return promptAgent(z.object({ result: z.string() }));
  },
});

const model = scriptedModel("small", (messages) =>
  messages.length === 1 ? toolCall("c1", "weather", { city: "Oslo" }) : result("a coat"),
);

describe("a traveller", () => {
  test("looks at the weather first", async ({ recording }) => {
    expect(await runWith(() => traveller({ city: "Oslo" }), { model })).toEqual({ result: "a coat" });
    expect(recording).toHaveCalledTool("weather", { city: "Oslo" }, { times: 1 });
    expect(recording).toHaveTrajectory([/^wea/]);
    expectTypeOf(recording.toolCalls).items.toHaveProperty("replayed").toEqualTypeOf<boolean>();
    const replayed = recording.calls.every((call) => call.replayed);
    expect(model.calls).toHaveLength(replayed ? 0 : 2);
  });
});

test.each([["Rome", 21] as const])("the weather of %s", async (city, celsius) => {
  expect(await callTool(weather, { city })).toEqual({ city, celsius, at: new Date(0) });
});
