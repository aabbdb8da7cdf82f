import { readFileSync } from "node:fs";

import type { Tool } from "agent-rewind";
import { expect, it } from "vitest";
import { z } from "zod";

import { result, scriptedModel, textOf } from "../support/scripted-model.js";
import { tour } from "./replay-page.js";

it("docs/replay.md shows code that does what it says", async () => {
  const page = readFileSync(new URL("../../docs/replay.md", import.meta.url), "utf8");
  expect(page).toContain(readFileSync(new URL("replay-page.ts", import.meta.url), "utf8").trim());
  const model = scriptedModel("m", (messages) => result(textOf(messages[0]).slice(0, 30)));
  const search: Tool = {
    name: "search",
    description: "",
    parameters: z.object({ topic: z.string() }),
    handler: ({ topic }: { topic: string }) => [topic],
  };
  expect(await tour(model, search)).toEqual([
    { result: 'Report on moths: ["moths"]' },
    { result: 'Report on moths: ["moths"]' },
    2,
    2,
    { result: 'Report on moths: ["nothing"]' },
  ]);
  expect(model.calls.length).toBe(3);
});
