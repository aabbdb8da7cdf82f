// A recording that vitest writes has every field of calls and frames.
import { join } from "node:path";
import { parseSnapshot } from "agent-rewind/debugger";
import { expect, it } from "vitest";

import { readRecording } from "../../ts/recording/files.js";
import { CARRIED_OVER } from "../support/every-field.js";
import { fieldsOf, fieldsOfTypes, isDefault, type Field } from "../support/fields.js";
import { expectPassed, vitestProject } from "../support/vitest-project.js";

const TEST = `
import { journalCall, runWith } from "agent-rewind";
import { test } from "agent-rewind/vitest";
import { everyFieldOptions, everyFieldProgram } from "../../__test__/support/every-field.js";

test("every field", async () => {
  const name = process.env.NAME;
  await journalCall({ kind: "step", name, request: {} }, () => name);
  if (name === "first") await runWith(everyFieldProgram, everyFieldOptions);
});
`;

it("keeps every field, also of what a later run of the test has not asked for", { timeout: 120_000 }, async () => {
  using project = vitestProject({ "every-field.test.mjs": TEST });
  const folder = join(project.folder, "__recordings__/every-field.test.mjs");
  const [main, timing, blobs] = ["every-field.jsonl", "every-field.timing.jsonl", "files"].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  const kept = async (env: Record<string, string>): Promise<Set<Field>> => {
    expectPassed(await project.run({ env }));
    const places = fieldsOf(parseSnapshot(JSON.stringify(readRecording({ main, timing, blobs })))).values();
    return new Set(
      [...places].flatMap((fields) => [...fields].flatMap(([name, value]) => (isDefault(value) ? [] : name))),
    );
  };
  const missing = async (env: Record<string, string>): Promise<Field[]> => {
    const there = await kept(env);
    return fieldsOfTypes().filter((field) => !there.has(field));
  };
  // All that was recorded was asked for, and executed again where a fork had dropped it.
  expect(await missing({ NAME: "first" })).toEqual([
    `CallRecord.${CARRIED_OVER}`,
    "CallRecord.dropped",
    `AgentFrameSnapshot.${CARRIED_OVER}`,
  ]);
  expect(await missing({ AGENT_REWIND_MODE: "auto", NAME: "second" })).toEqual(["CallRecord.dropped"]);
});
