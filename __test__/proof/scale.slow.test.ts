import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { limits, withinLimits } from "../../proof/scale/limits.mjs";
import { measure } from "../../proof/scale/measure.mjs";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "scale-"));
});
afterAll(() => rm(folder, { recursive: true }));

// proof/scale.mjs measures how time grows. This test shows that runs of this size can be restored at all.
it.each([
  ["nested", 1_000],
  ["siblings", 2_000],
  ["entries", 10_000],
] as const)("%s: a run of %i is restored from its dump and from its trace", { timeout: 120_000 }, async (name, n) => {
  const { bytes } = await measure(name, n, folder);
  expect(bytes.snapshot).toBeGreaterThan(n * 100);
  expect(bytes.trace).toBeGreaterThan(n * 100);
});

describe("limits", { timeout: 120_000 }, () => {
  it("allow everything within them", () => {
    expect(withinLimits).not.toThrow();
  });

  it("stop everything beyond them with a typed error that says what to do, or where", async () => {
    expect((await limits()).map(({ what, name, code }) => [what, name, code])).toEqual([
      ["1,001 frames in a snapshot", "LimitError", "ERR_REWIND_LIMIT"],
      ["1,001 frames in a trace", "LimitError", "ERR_REWIND_LIMIT"],
      ["runWith with a maxDepth of 1,000 agents", "RangeError", undefined],
      ["1,000 agents inside one another in a run", "MaxDepthExceededError", "ERR_REWIND_MAX_DEPTH"],
      ["more than 1,000 levels of JSON in a snapshot", "LimitError", "ERR_REWIND_LIMIT"],
    ]);
  });
});
