import { describe, expect, it } from "vitest";
import { z } from "zod";

import { createAgent, promptAgent, resume, runWith } from "../ts/index.js";
import { createTraceWriter, dumpSnapshot, restoreSnapshot } from "../ts/debugger.js";

const nothing = (): void => undefined;

describe("a misspelled option is rejected instead of being silently ignored", () => {
  it("by runWith and its modes before anything runs", async () => {
    let ran = false;
    const run = (): void => {
      ran = true;
    };
    const snapshot = await runWith(() => dumpSnapshot(), { enableSnapshot: true });
    await expect(runWith(run, { snaphot: snapshot } as object)).rejects.toThrow(
      new TypeError('runWith: options.snaphot is unknown; did you mean "snapshot"?'),
    );
    await expect(resume(run, { snapshot, onmiss: () => "error" } as never)).rejects.toThrow(
      'options.onmiss is unknown; did you mean "onMiss"?',
    );
    expect(ran).toBe(false);
  });

  it("by createAgent", () => {
    expect(() => createAgent({ id: "a", handler: nothing, maxRetry: 1 } as never)).toThrow(
      new TypeError('createAgent: config.maxRetry is unknown; did you mean "maxRetries"?'),
    );
  });

  it("by promptAgent", async () => {
    const agent = createAgent({ id: "a", handler: () => promptAgent(z.string(), { modelOption: {} } as object) });
    await expect(agent()).rejects.toThrow('promptAgent: options.modelOption is unknown; did you mean "modelOptions"?');
  });

  it("by functions for snapshots and traces", async () => {
    expect(() => restoreSnapshot([], { spanID: "s" } as object)).toThrow('did you mean "spanId"?');
    expect(() => createTraceWriter("nowhere", { synk: "off" } as object)).toThrow('did you mean "sync"?');
    const dump = (): unknown => dumpSnapshot({ meta_data: {} } as object);
    await expect(runWith(dump, { enableSnapshot: true })).rejects.toThrow('did you mean "metadata"?');
  });
});

it("unless its name is similar to no known option, because it may belong to another library", async () => {
  await expect(runWith(() => 1, { telemetryProvider: {} } as object)).resolves.toBe(1);
});
