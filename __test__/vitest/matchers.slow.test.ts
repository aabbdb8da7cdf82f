import { expect, it } from "vitest";

import { expectPassed, vitestProject } from "../support/vitest-project.js";

const SLOW = { timeout: 120_000 };

const HEAD = `
import { callTool, runWith } from "agent-rewind";
import { test } from "agent-rewind/vitest";
import { expect } from "vitest";
import { z } from "zod";
const tool = (name) => ({ name, description: name, parameters: z.object({ q: z.string() }), handler: async ({ q }) => name + " " + q });
const call = (name, q) => callTool(tool(name), { q });
const program = () => runWith(async () => { await call("search", "a"); await call("read", "b"); await call("search", "c"); await call("answer", "d"); });
`;

it("matchers see the tool calls, recorded and replayed", SLOW, async () => {
  using project = vitestProject({
    "a.test.mjs": `${HEAD}
test("all match", async ({ recording }) => {
  await program();
  expect(recording).toHaveCalledTool("search");
  expect(recording).toHaveCalledTool(/^sea/, { q: "c" });
  expect(recording).toHaveCalledTool("search", expect.objectContaining({ q: expect.any(String) }), { times: 2 });
  expect(recording).not.toHaveCalledTool("delete");
  expect(recording).not.toHaveCalledTool("search", { q: "z" });
  expect(recording).toHaveTrajectory(["search", "read", "search", "answer"]);
  expect(recording).toHaveTrajectory(["search", "...", { tool: /^ans/, input: { q: "d" } }]);
  expect(recording).toHaveTrajectory(["...", "search", /answer/, "..."]);
  expect(recording).not.toHaveTrajectory(["search", "read"]);
  expect(recording).not.toHaveTrajectory(["read", "...", "read", "..."]);
  expect(recording.toolCalls.map(({ output }) => output)).toEqual(["search a", "read b", "search c", "answer d"]);
  if (recording.mode === "replay") expect(recording).toBeReplayed();
  else expect(recording).not.toBeReplayed();
});`,
  });
  for (const CI of ["", "1"]) {
    const run = await project.run({ env: { CI } });
    expectPassed(run);
  }
});

it("failures read like those of vitest", SLOW, async () => {
  using project = vitestProject({
    "a.test.mjs": `${HEAD}
test("replayed", async ({ recording }) => { await program(); expect(recording).toBeReplayed(); });
test("called", async ({ recording }) => { await program(); expect(recording).toHaveCalledTool("read", { q: "z" }); });
test("times", async ({ recording }) => { await program(); expect(recording).toHaveCalledTool("search", undefined, { times: 3 }); });
test("trajectory", async ({ recording }) => { await program(); expect(recording).toHaveTrajectory(["search", "write", "..."]); });
test("wrong", () => { expect(5).toBeReplayed(); });
`,
  });
  const { text, code } = await project.run();
  expect(code).toBe(1);
  for (const part of [
    "expect(recording).toBeReplayed()",
    '4 of 4 calls were live:\n  tool search({"q": "a"})\n  tool read({"q": "b"})',
    'Expected a call of "read" with {"q": "z"}. Matching calls: 0.',
    '-   "q": "z",\n+   "q": "b",',
    'Expected a call of "search", 3 times. Matching calls: 2.',
    "to follow the trajectory",
    '-   "write",',
    "toBeReplayed: expected the fixture `recording` of a test, received number",
  ]) {
    expect(text).toContain(part);
  }
});
