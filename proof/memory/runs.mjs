// Sequential recorded runs and the memory that they leave. Needs --expose-gc.
import { createAgent, callTool, replay, runWith } from "agent-rewind";
import { dumpSnapshot, stringifySnapshot } from "agent-rewind/debugger";

const TEXT = "x".repeat(2000);

const look = {
  name: "look",
  description: "Looks",
  parameters: { "~standard": { version: 1, vendor: "own", validate: (value) => ({ value }) } },
  jsonSchema: { type: "object" },
  handler: async ({ n }) => ({ n, text: TEXT }),
};

const agent = createAgent({
  id: "looker",
  handler: async ({ n }) => {
    await Promise.all([callTool(look, { n }), callTool(look, { n: n + 1 })]);
    return n;
  },
});

/** One run with two dumps, and its replay. The text and the tree of one dump are read. */
async function once(n) {
  const snapshot = await runWith(
    async () => {
      await agent({ n });
      const first = dumpSnapshot();
      const second = dumpSnapshot();
      if (stringifySnapshot(first).length < 2 * TEXT.length) throw new Error("the dump lacks what was recorded");
      if (second.root.callId !== "root") throw new Error("the dump has no tree");
      return first;
    },
    { enableSnapshot: true },
  );
  await replay(() => agent({ n }), { snapshot, enableSnapshot: true });
}

/**
 * Makes runs and measures after each of the counts.
 *
 * @param {number[]} counts total numbers of runs, ascending
 * @returns {Promise<{ runs: number, heap: number, rss: number }[]>} bytes, after garbage collection
 */
export async function measure(counts) {
  const measured = [];
  let done = 0;
  for (const runs of counts) {
    for (; done < runs; done++) {
      await once(done);
      // The amount of uncollected garbage influences where the allocator places the memory that stays.
      if (done % 100 === 0) globalThis.gc();
      // Native memory is freed in the turn after its handles.
      if (done % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    measured.push({ runs, ...(await inUse()) });
  }
  return measured;
}

/**
 * The memory in use after other threads have swept the heap and returned memory, which takes time on a busy machine.
 */
async function inUse() {
  let least = { heap: Infinity, rss: Infinity };
  for (let round = 0; round < 20; round++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const { heapUsed, rss } = process.memoryUsage();
    least = { heap: Math.min(least.heap, heapUsed), rss: Math.min(least.rss, rss) };
  }
  return least;
}
