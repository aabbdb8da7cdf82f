// Programs written for @rejelly/core, on this package installed under that name.
import { join } from "node:path";
import { expect, test } from "vitest";
import { writePage } from "../support/docs-page.js";
import { install, runTool } from "./consumer.js";

const FOUND = { answer: "found 3 pages on test" };
const REPLAYED = { value: FOUND, model: 0, tool: 0 };

test("the code of docs/time-travel.md type-checks and runs as it stands", () => {
  const others = { "@types/node": "@types/node", zod: "zod" };
  const consumer = install({ platform: true, alias: "@rejelly/core", others });
  const files = writePage("docs/time-travel.md", consumer.folder);
  const options = [
    "--strict",
    "--skipLibCheck",
    "false",
    "--target",
    "es2022",
    "--module",
    "node16",
    "--types",
    "node",
  ];
  expect(runTool("typescript/bin/tsc", [...options, ...files], consumer.folder)).toEqual({ code: 0, text: "" });
  expect(consumer.run(join(consumer.folder, "time-travel.mjs"))).toEqual({
    required: ["function", "function"],
    record: { value: { reason: "before migration" }, model: 2, tool: 1 },
    again: REPLAYED,
    first: { value: { result: FOUND, agentId: "outer", memory: { runs: 1 } }, model: 2, tool: 1 },
    disabled: "disabled",
    enabled: "object",
    inOrder: { value: true, model: 0, tool: 0 },
    asTheyAreReady: { value: true, model: 0, tool: 0 },
    preparedFirst: { value: true, model: 0, tool: 0 },
    afterTheAgent: REPLAYED,
    restoreToLatest: REPLAYED,
    resumeExecution: REPLAYED,
    retryExecution: { value: FOUND, model: 1, tool: 0 },
    beforeTheAgent: "RestoreError",
  });
});
