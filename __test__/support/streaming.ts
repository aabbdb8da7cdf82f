import type { ModelAdapter, StreamConsumer, StreamEvent, StreamInfo, Tool } from "agent-rewind";
import { z } from "zod";

export const usage = { promptTokens: 10, completionTokens: 7, totalTokens: 17, details: { cached: 3 } };

/** A model that answers each call with the next list of events. */
export function streamingModel(...answers: StreamEvent[][]): ModelAdapter & { calls: number } {
  const model = {
    id: "m",
    calls: 0,
    async *stream(): AsyncGenerator<StreamEvent> {
      const answer = answers[model.calls] ?? answers.at(-1) ?? [];
      model.calls += 1;
      for (const event of answer) {
        yield event;
        await Promise.resolve();
      }
    },
  };
  return model;
}

export const answer: StreamEvent[] = [
  { type: "reasoning", content: "Let me " },
  { type: "reasoning", content: "think." },
  { type: "text", content: '{"result":' },
  { type: "text", content: '"ok"}' },
  { type: "extra", extra: { signature: "s" } },
  { type: "usage", usage },
  { type: "finish", finishReason: "stop" },
];

export const asking: StreamEvent[] = [
  { type: "tool_call", toolCall: { index: 0, id: "c1", name: "double" } },
  { type: "tool_call", toolCall: { index: 0, arguments: '{"n":' } },
  { type: "tool_call", toolCall: { index: 0, arguments: "2}" } },
  { type: "tool_call", toolCall: { index: 1, id: "c2", name: "double", arguments: '{"n":3}', extra: { k: 1 } } },
  { type: "finish", finishReason: "tool_calls", usage },
];

export const double: Tool<{ n: number }> = {
  name: "double",
  description: "",
  parameters: z.object({ n: z.number() }),
  handler: ({ n }) => 2 * n,
};

/** A consumer that keeps all events. */
export function consumer(): StreamConsumer & { events: StreamEvent[]; infos: StreamInfo[] } {
  const events: StreamEvent[] = [];
  const infos: StreamInfo[] = [];
  return Object.assign(
    (event: StreamEvent, info: StreamInfo) => {
      events.push(event);
      infos.push(info);
    },
    { events, infos },
  );
}

/** The stream as a consumer assembles it: all pieces of each kind joined. */
export function assembled(events: readonly StreamEvent[]): object {
  const of = <T extends StreamEvent["type"]>(type: T): Extract<StreamEvent, { type: T }>[] =>
    events.filter((event): event is Extract<StreamEvent, { type: T }> => event.type === type);
  const toolCalls: { id: string; name: string; arguments: string }[] = [];
  for (const { toolCall } of of("tool_call")) {
    const call = (toolCalls[toolCall.index] ??= { id: "", name: "", arguments: "" });
    call.id ||= toolCall.id ?? "";
    call.name ||= toolCall.name ?? "";
    call.arguments += toolCall.arguments ?? "";
  }
  return {
    text: of("text")
      .map(({ content }) => content)
      .join(""),
    reasoning: of("reasoning")
      .map(({ content }) => content)
      .join(""),
    toolCalls,
    extra: of("extra").map(({ extra }) => extra),
    ends: events.filter(({ type }) => type === "usage" || type === "finish"),
  };
}
