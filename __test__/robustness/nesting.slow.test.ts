// Agents that call one another synchronously. The depth limit ends them, not the stack.
import { createAgent, type Agent, isMaxDepthExceededError, runFrame, runWith, type RunWithOptions } from "agent-rewind";
import { describe, expect, it } from "vitest";

const down: Agent<{ n: number }, string> = createAgent<{ n: number }, string>({
  id: "down",
  handler: ({ n }) => (n === 0 ? "the end" : down({ n: n - 1 })),
});
const layered: Agent<{ n: number }, string> = createAgent<{ n: number }, string>({
  id: "layered",
  middlewares: [{ name: "pass", handler: (_context, next) => next() }],
  handler: ({ n }) => (n === 0 ? "the end" : layered({ n: n - 1 })),
});
const framed = ({ n }: { n: number }): Promise<string> =>
  runFrame({ id: "framed", input: { n } }, () => (n === 0 ? "the end" : framed({ n: n - 1 })));

const ended = (call: (props: { n: number }) => Promise<string>, n: number, options: RunWithOptions): Promise<unknown> =>
  runWith(() => call({ n }), options).catch((error: unknown) => isMaxDepthExceededError(error) || error);

describe.each([
  ["agents", down],
  ["agents with middlewares", layered],
  ["frames", framed],
])("%s nested without a pause", (_what, call) => {
  it("end with MaxDepthExceededError if they are nested too deep", async () => {
    expect(await ended(call, 1_000, {})).toBe(true);
    expect(await ended(call, 1_000, { maxDepth: 999 })).toBe(true);
    expect(await ended(call, 100_000, { maxDepth: 999 })).toBe(true);
  });

  it("can be nested as deep as maxDepth says", async () => {
    expect(await ended(call, 998, { maxDepth: 999, enableSnapshot: true })).toBe("the end");
    expect(await ended(call, 49, {})).toBe("the end");
  });

  it("start immediately if they are not nested", async () => {
    const order: string[] = [];
    await runWith(async () => {
      const first = runFrame({ id: "a", input: 1 }, () => runFrame({ id: "b", input: 1 }, () => order.push("inner")));
      order.push("after");
      await first;
    });
    expect(order).toEqual(["inner", "after"]);
  });
});
