// Error messages for JavaScript callers, which no compiler checks.
import { createAgent, equipInstruction, journalCall, promptAgent, replay, runWith } from "agent-rewind";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const wrong = (value: unknown): never => value as never;

const agent = createAgent({
  id: "writer",
  handler: async () => {
    equipInstruction("Write.");
    return promptAgent(z.string());
  },
});

describe("runWith", () => {
  it.each([
    ["a number", 5, "number"],
    ["null", null, "null"],
    ["a promise", Promise.resolve(), "object"],
  ])("names %s passed instead of its function", async (_what, fn, received) => {
    await expect(runWith(wrong(fn))).rejects.toThrow(
      new TypeError(`runWith: fn must be a function, received ${received}`),
    );
  });

  it("says how to read a snapshot from a path", async () => {
    await expect(runWith(() => 1, { snapshot: wrong("failed.json") })).rejects.toThrow(
      "Invalid Snapshot format: expected a snapshot object, received string; readSnapshot(path) reads a file, parseSnapshot(text) a text",
    );
  });

  it("says that the promise of a snapshot must be awaited", async () => {
    await expect(replay(() => 1, { snapshot: wrong(Promise.resolve({})) })).rejects.toThrow(
      "Invalid Snapshot format: expected a snapshot object, received a promise; await it",
    );
  });

  it.each([
    ["the name of a model", "gpt-5-mini", 'received "gpt-5-mini"'],
    ["an empty object", {}, "received object"],
  ])("names %s passed instead of a model", async (_what, model, received) => {
    const failed = runWith(() => agent(), { model: wrong(model) });
    await expect(failed).rejects.toThrow(TypeError);
    await expect(failed).rejects.toThrow(
      `runWith: options.model must be a model adapter, an object with id and stream(), ${received}`,
    );
  });
});

it.each([
  [{ model: wrong("none"), options: {} }, 'asks for the model "none", which is not registered'],
  [{ model: wrong({ id: "m" }), options: {} }, 'agent "own": config.model must be a model adapter'],
  [
    { model: "m", options: { modelRegistry: { m: wrong("gpt") } } },
    'options.modelRegistry["m"] must be a model adapter',
  ],
])("an agent with an invalid model is named in the error", async ({ model, options }, message) => {
  const own = createAgent({ id: "own", model, handler: async () => promptAgent(z.string()) });
  await expect(runWith(() => own(), options)).rejects.toThrow(message);
});

it("journalCall names a value that is not a function", async () => {
  const call = { kind: "chat", name: "m", request: {} };
  await expect(runWith(() => journalCall(call, wrong(undefined)))).rejects.toThrow(
    new TypeError("journalCall: make must be a function, received undefined"),
  );
});
