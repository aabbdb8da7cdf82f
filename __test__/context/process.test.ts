// process(): fits conversations into budgets of tokens.
import { ContextManager, type OptimizerStrategy } from "agent-rewind/context";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";

interface Call {
  id: string;
  function: { name: string; arguments: string };
}

interface Message {
  role: string;
  content: unknown;
  tool_calls?: Call[];
  tool_call_id?: string;
}

const STRATEGIES: OptimizerStrategy[] = ["truncate", "sliding_window", "prune_tools", "smart"];
const LIMIT = 2_000;

const managerOf = (strategy: OptimizerStrategy, config: object = {}): ContextManager =>
  new ContextManager({
    model: "small",
    models: { small: LIMIT },
    config: { strategy, outputReserve: 0, toolOutputMax: 200, keepRecentTurns: 2, ...config },
  });

const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.integer({ min: 0, max: 4_000 }).map((length) => "word ".repeat(length / 5)),
  fc.integer({ min: 0, max: 500 }).map((length) => "你😀".repeat(length / 2)),
);

/** A step of a conversation in the form of one of the APIs: a message, or tool calls and their results. */
const step: fc.Arbitrary<(id: () => string) => Message[]> = fc.oneof(
  text.map((content) => () => [{ role: "user", content }]),
  text.map((content) => () => [{ role: "assistant", content }]),
  fc.array(text, { minLength: 1, maxLength: 3 }).map((outputs) => (next: () => string) => {
    const ids = outputs.map(next);
    return [
      {
        role: "assistant",
        content: null,
        tool_calls: ids.map((id) => ({ id, function: { name: "t", arguments: "{}" } })),
      },
      ...ids.map((id, index) => ({ role: "tool", tool_call_id: id, content: outputs[index] })),
    ];
  }),
  fc.array(text, { minLength: 1, maxLength: 3 }).map((outputs) => (next: () => string) => {
    const ids = outputs.map(next);
    return [
      { role: "assistant", content: ids.map((id) => ({ type: "tool_use", id, name: "t", input: {} })) },
      {
        role: "user",
        content: ids.map((id, index) => ({ type: "tool_result", tool_use_id: id, content: outputs[index] })),
      },
    ];
  }),
);

const conversation = fc
  .record({
    system: fc.option(text, { nil: undefined }),
    steps: fc.array(step, { minLength: 1, maxLength: 30 }),
    sameIds: fc.boolean(),
  })
  .map(({ system, steps, sameIds }) => {
    let count = 0;
    const body = steps.flatMap((make) => {
      // Some servers number the calls of each answer from 0.
      if (sameIds) count = 0;
      return make(() => `call_${count++}`);
    });
    return system === undefined ? body : [{ role: "system", content: system }, ...body];
  });

/** Tool results without a call before them, and calls without results after them. */
function orphans(messages: readonly Message[]): string[] {
  const open = new Set<string>();
  const found: string[] = [];
  for (const { content, tool_calls: calls, tool_call_id: answered } of messages) {
    const blocks = Array.isArray(content) ? (content as { type: string; id: string; tool_use_id: string }[]) : [];
    const liveCalls = [
      ...(calls ?? []).map(({ id }) => id),
      ...blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id),
    ];
    for (const id of liveCalls) {
      if (open.has(id)) found.push(`call ${id}`);
      open.add(id);
    }
    const results = [
      ...(answered === undefined ? [] : [answered]),
      ...blocks.filter(({ type }) => type === "tool_result").map((block) => block.tool_use_id),
    ];
    for (const id of results) if (!open.delete(id)) found.push(`result ${id}`);
  }
  return [...found, ...[...open].map((id) => `call ${id}`)];
}

describe.each(STRATEGIES)("%s", (strategy) => {
  it("never returns an empty list and never separates a tool call from its results", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const before = structuredClone(messages);
        const { messages: sent, optimized, tokensBefore, tokensAfter } = managerOf(strategy).process(messages);
        expect(messages).toEqual(before);
        expect(sent.length).toBeGreaterThan(0);
        expect(orphans(messages)).toEqual([]);
        expect(orphans(sent)).toEqual([]);
        expect(tokensAfter).toBeLessThanOrEqual(tokensBefore);
        if (tokensBefore < LIMIT * 0.8) expect({ optimized, sent }).toEqual({ optimized: false, sent: messages });
      }),
      { numRuns: 300 },
    );
  });

  it("fits the budget where possible and keeps the instructions and the last messages", () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const manager = managerOf(strategy);
        const { messages: sent, tokensAfter } = manager.process(messages);
        const kept = messages.filter(({ role }) => role === "system");
        expect(sent.filter(({ role }) => role === "system")).toEqual(kept);
        expect(sent.at(-1)?.role).toBe(messages.at(-1)?.role);
        // The minimum that stays: the instructions, and the last message together with the messages it answers.
        const least = managerOf("truncate", { compactThreshold: 1e-9 }).process(messages).tokensAfter;
        if (least <= LIMIT * 0.8) expect(tokensAfter).toBeLessThanOrEqual(LIMIT * 0.8);
      }),
      { numRuns: 300 },
    );
  });
});

const long = (role: string): Message => ({ role, content: "word ".repeat(200) });

describe("process", () => {
  it("drops the oldest messages first", () => {
    const messages = [{ role: "system", content: "s" }, ...Array.from({ length: 10 }, () => long("user"))];
    const { messages: sent, optimized, tokensSaved } = managerOf("truncate").process(messages);
    expect(sent[0]).toBe(messages[0]);
    expect(sent.slice(1)).toEqual(messages.slice(-(sent.length - 1)));
    expect(sent).toHaveLength(7);
    expect(optimized).toBe(true);
    expect(tokensSaved).toBe(4 * 254);
  });

  it("keeps the latest turns with the sliding-window strategy", () => {
    const messages = Array.from({ length: 6 }, (_, index) => [
      { role: "user", content: `q${index} ${"word ".repeat(220)}` },
      { role: "assistant", content: `a${index}` },
    ]).flat();
    const { messages: sent } = managerOf("sliding_window").process(messages);
    expect(sent).toEqual(messages.slice(-4));
  });

  it("shortens tool outputs, oldest first, and leaves other messages", () => {
    const messages: Message[] = [0, 1, 2, 3].flatMap((index) => [
      { role: "assistant", content: null, tool_calls: [{ id: `${index}`, function: { name: "t", arguments: "{}" } }] },
      { role: "tool", tool_call_id: `${index}`, content: `start ${"word ".repeat(index === 0 ? 4_000 : 100)}` },
    ]);
    messages.push({ role: "user", content: "x ".repeat(2_200) });
    const { messages: sent } = managerOf("prune_tools").process(messages);
    expect(sent).toHaveLength(messages.length);
    const outputs = sent.filter(({ role }) => role === "tool").map(({ content }) => String(content));
    expect(outputs[0]).toMatch(/^start word .*\n\[… 5001 tokens in all, cut\]$/s);
    expect(outputs.map((output) => output.length < 500)).toEqual([true, true, false, false]);
  });

  it("truncates the end only if nothing else helps, and never inside a character", () => {
    const call = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "1", function: { name: "t", arguments: "{}" } }],
    };
    const messages: Message[] = [call, { role: "tool", tool_call_id: "1", content: "😀".repeat(2_000) }];
    const { messages: sent, tokensAfter } = managerOf("smart", { toolOutputMax: 10_000 }).process(messages);
    expect(sent[0]).toBe(call);
    expect(tokensAfter).toBeLessThan(LIMIT * 0.8);
    expect(String(sent[1]?.content)).not.toMatch(
      /[\uD800-\uDFFF](?<![\uD800-\uDBFF][\uDC00-\uDFFF])(?![\uDC00-\uDFFF])/,
    );
  });

  it("captures a pre-snapshot with its own ledger and does not run callbacks", () => {
    const messages = Array.from({ length: 10 }, () => long("user"));
    const seen = vi.fn<() => void>();
    const at = (snapshotTiming: "pre_optimization" | "post_optimization" | "both") => {
      const manager = managerOf("truncate", { snapshotTiming });
      manager.registerCaptureCallback(seen);
      const processed = manager.process(messages, { systemPrompt: "You are helpful.", tools: [{ name: "t" }] });
      void manager.close();
      return { processed, history: manager.getHistory() };
    };
    const { processed, history } = at("both");
    expect(processed.pre?.messages).toEqual(messages);
    expect(processed.post?.messages).toEqual(processed.messages);
    expect(processed.pre?.ledger).toMatchObject({ messageCount: 10, total: processed.tokensBefore, systemPrompt: 4 });
    expect(processed.post?.ledger).toMatchObject({ messageCount: 6, total: processed.tokensAfter, toolsSchema: 3 });
    expect([processed.pre?.timing, processed.post?.timing]).toEqual(["pre_optimization", "post_optimization"]);
    expect(at("pre_optimization").processed).not.toHaveProperty("post");
    expect(at("post_optimization").processed).not.toHaveProperty("pre");
    expect(history).toMatchObject([
      { kind: "optimization", strategy: "truncate", messagesBefore: 10, messagesAfter: 6 },
    ]);
    expect(seen).not.toHaveBeenCalled();
  });

  it("changes nothing if there is nothing it may change", () => {
    const messages = Array.from({ length: 20 }, () => long("user"));
    for (const manager of [managerOf("truncate", { autoCompact: false }), managerOf("non_destructive")]) {
      const { messages: sent, optimized, warnings } = manager.process(messages);
      expect(sent).toEqual(messages);
      expect(optimized).toBe(false);
      expect(warnings[0]).toContain("CRITICAL: Context overflow! 254.2%");
    }
  });
});
