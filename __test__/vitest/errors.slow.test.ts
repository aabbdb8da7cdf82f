// Failures in recordings of tests, and the option errors.
import { expect, it } from "vitest";

import { vitestProject } from "../support/vitest-project.js";

const file = (options: string): string => `
import { journalCall, runWith } from "agent-rewind";
import { recordingTest, withRecording } from "agent-rewind/vitest";
import { expect, test as plain } from "vitest";

class OutOfStock extends Error {
  constructor(item) {
    super("no " + item);
    this.item = item;
    this.tried = [new RangeError("first"), new DOMException("second", "TimeoutError"), () => 1];
  }
}
const options = ${options};
const test = recordingTest(undefined, options);
const buy = (id) =>
  journalCall({ kind: "shop", name: "buy", request: { id } }, () => {
    if (process.env.LIVE !== "1") throw new TypeError("it was executed again");
    throw new OutOfStock("tea");
  }).catch((error) => error);
const check = (error) => {
  expect(error).toBeInstanceOf(OutOfStock);
  expect(error.item).toBe("tea");
  expect(error.tried[0]).toBeInstanceOf(RangeError);
  expect(error.tried[1].code).toBe(DOMException.TIMEOUT_ERR);
};
test("directly", async () => check(await buy(1)));
test("in a run", async () => check(await runWith(() => buy(2))));
plain("with withRecording", withRecording(async () => check(await buy(3)), options));
`;

it("brings named classes back in tests, and records no stacks", { timeout: 120_000 }, async () => {
  using project = vitestProject({ "a.test.mjs": file("{ errors: [OutOfStock] }") });
  const passed = { directly: "passed", "in a run": "passed", "with withRecording": "passed" };
  const live = await project.run({ env: { LIVE: "1" } });
  expect(live.results).toEqual(passed);
  const recordings = Object.values(project.recordings()).join("");
  expect(recordings).toContain('"class":["OutOfStock","Error"]');
  expect(recordings).not.toMatch(/"stack"|a\.test\.mjs:\d/);
  expect((await project.run({ env: { AGENT_REWIND_MODE: "replay" } })).results).toEqual(passed);

  project.write("a.test.mjs", file("{}"));
  const without = await project.run({ env: { AGENT_REWIND_MODE: "replay" } });
  expect(without.results).toEqual({ directly: "failed", "in a run": "failed", "with withRecording": "failed" });
  expect(without.text).toContain("lacks what the recorded one had: the class OutOfStock (came back as Error");

  project.write("a.test.mjs", file("{ errors: OutOfStock }"));
  expect((await project.run({ env: { AGENT_REWIND_MODE: "replay" } })).text).toContain(
    "errors must be an array of classes",
  );
});
