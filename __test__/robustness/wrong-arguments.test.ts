// Every exported function is called with wrong arguments. What it throws names the argument, and is not an error of the
// code behind it, such as "Cannot read properties of undefined".
import { readFileSync, rmSync } from "node:fs";
import { inspect } from "node:util";
import {
  callTool,
  createAgent,
  equipInstruction,
  isInvalidSnapshotError,
  journalCall,
  promptAgent,
  replay,
  runFrame,
  runWith,
  withCustomSpan,
  type AgentSnapshot,
} from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";

import { temporaryFolder } from "../support/process.js";
import { scriptedModel } from "../support/scripted-model.js";

/** The integration kit is for adapters, which TypeScript checks. Captures are created by the package. */
const NOT_CHECKED = new Set(["./integration", "BoundaryCapture", "SnapshotHookData"]);

const WRONG: [name: string, value: unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["a number", 42],
  ["an object", {}],
  ["a list", []],
  ["a text", "text"],
  ["a function", () => {}],
];

const FROM_INSIDE =
  /Cannot (?:read|destructure|set|convert|use)|is not (?:a function|iterable|defined|a constructor)|\bin' operator/;

function isTyped(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === "string") return code.startsWith("ERR_") || code === "ENOENT";
  return (error instanceof TypeError || error instanceof RangeError) && !FROM_INSIDE.test(error.message);
}

/** The error of a call that ends soon. */
function errorOf(call: () => unknown): Promise<unknown> {
  const ended = Promise.resolve()
    .then(call)
    .then(
      () => undefined,
      (error: unknown) => error as object,
    );
  return Promise.race([ended, new Promise<void>((resolve) => void setTimeout(resolve, 50))]);
}

const { exports: entries } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  exports: Record<string, unknown>;
};
// Importing these changes the process.
const ACTING = new Set(["./register", "./vitest/setup"]);
const names = Object.keys(entries).filter(
  (entry) => /^\.(?:\/[\w-]+)*$/.test(entry) && entry !== "./vitest" && !ACTING.has(entry) && !NOT_CHECKED.has(entry),
);

// Some of the functions write files.
const before = process.cwd();
const folder = temporaryFolder();
beforeAll(() => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  process.chdir(folder);
});
afterAll(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
});

describe.each(names)("%s", (entry) => {
  it("throws typed errors", { timeout: 60_000 }, async () => {
    const module = (await import(`agent-rewind${entry.slice(1)}`)) as Record<string, unknown>;
    const untyped: string[] = [];
    let called = 0;
    for (const [name, exported] of Object.entries(module)) {
      if (typeof exported !== "function" || NOT_CHECKED.has(name)) continue;
      const isClass = exported.toString().startsWith("class");
      // Errors are created by the package.
      if (isClass && name.endsWith("Error")) continue;
      for (const [label, value] of WRONG) {
        for (const args of [[value], [value, value], [{}, value], ["a", value]]) {
          const call = (): unknown =>
            isClass ? Reflect.construct(exported, args) : Reflect.apply(exported, null, args);
          for (const error of [await errorOf(call), await errorOf(() => runWith(call))]) {
            called += 1;
            if (error !== undefined && !isTyped(error)) untyped.push(`${name}(${label}): ${inspect(error)}`);
          }
        }
      }
    }
    expect([...new Set(untyped)]).toEqual([]);
    expect(called).toBeGreaterThan(0);
  });
});

const anything = (value: unknown): never => value as never;

it.each<[name: string, call: () => Promise<unknown>, message: RegExp]>([
  ["a frame", () => runFrame(anything(undefined), () => 1), /^runFrame: frame must be an object, received undefined$/],
  [
    "the function of a frame",
    () => runFrame({ id: "f", input: {} }, anything(null)),
    /^runFrame: fn must be a function, received null$/,
  ],
  [
    "the signal of a frame",
    () => runFrame({ id: "f", input: {}, signal: anything("stop") }, () => 1),
    /^runFrame: frame\.signal must be an AbortSignal, received "stop"$/,
  ],
  [
    "a call",
    () => journalCall(anything(undefined), () => 1),
    /^journalCall: call must be an object, received undefined$/,
  ],
  ["a tool", () => callTool(anything(null), {}), /^callTool: tool must be an object, received null$/],
  [
    "the handler of a tool",
    () => callTool(anything({ name: "t", description: "", parameters: z.object({}) }), {}),
    /^callTool: tool\.handler must be a function, received undefined$/,
  ],
  ["the name of a span", () => withCustomSpan(anything(undefined), () => 1), /^withCustomSpan: name must be a string/],
  ["the function of a span", () => withCustomSpan("s", anything(undefined)), /^withCustomSpan: fn must be a function/],
])("%s that is wrong is named", async (_name, call, message) => {
  await expect(runWith(call)).rejects.toThrow(
    expect.objectContaining({ name: "TypeError", message: expect.stringMatching(message) as string }),
  );
});

describe("the output of a prompt that was edited", () => {
  const agent = createAgent({
    id: "a",
    model: scriptedModel("m", () => ({ content: '"hi"' })),
    handler: () => {
      equipInstruction("greet");
      return promptAgent(z.string());
    },
  });

  async function edited(output: unknown): Promise<AgentSnapshot> {
    const text = await runWith(async () => {
      await agent();
      return stringifySnapshot(dumpSnapshot());
    });
    const snapshot = parseSnapshot(text);
    const [frame] = Object.values(snapshot.root.children);
    for (const row of Object.values(frame?.journal.prompt ?? {})) row.output = output as never;
    return snapshot;
  }

  it.each<[name: string, output: unknown, path: string]>([
    ["text", "hi", "role"],
    ["null", null, "role"],
    ["another role", { role: "user", content: "hi" }, "role"],
    ["content that is a number", { role: "assistant", content: 1 }, "content"],
    ["tool calls without ids", { role: "assistant", content: null, tool_calls: [{ name: "t" }] }, "tool_calls"],
    ["tool calls that are null", { role: "assistant", content: null, tool_calls: [null] }, "tool_calls"],
  ])("to %s is an error with its place", async (_name, output, field) => {
    const snapshot = await edited(output);
    const error: unknown = await replay(() => agent(), { snapshot }).catch((caught: unknown) => caught);
    expect(isInvalidSnapshotError(error)).toBe(true);
    expect(error).toMatchObject({ faults: [{ path: `the output of root/agent:a:0/prompt:m:0, ${field}` }] });
  });

  it("to another message is what the replay returns", async () => {
    const snapshot = await edited({ role: "assistant", content: '"edited"' });
    expect(await replay(() => agent(), { snapshot })).toBe("edited");
  });
});
