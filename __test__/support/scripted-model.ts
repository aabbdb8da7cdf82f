import type { Message, ModelAdapter, StreamEvent, StreamOptions } from "agent-rewind";

import { sleep } from "./deferred.js";

export type Answer = { content: string } | { tool_calls: { id: string; name: string; arguments: string }[] };

export interface ScriptedModel extends ModelAdapter {
  /** The requests that reached the model. */
  calls: { messages: Message[]; options: StreamOptions | undefined }[];
}

/** A model that computes its answer from the request, after `latency` milliseconds. */
export function scriptedModel(
  id: string,
  answer: (messages: Message[], options: StreamOptions | undefined) => Answer | Promise<Answer>,
  { provider, latency }: { provider?: string; latency?: (messages: Message[]) => number } = {},
): ScriptedModel {
  const calls: ScriptedModel["calls"] = [];
  return {
    id,
    ...(provider === undefined ? {} : { provider }),
    calls,
    async *stream(messages: Message[], options?: StreamOptions): AsyncGenerator<StreamEvent> {
      calls.push({ messages: [...messages], options });
      const wait = latency?.(messages);
      if (wait !== undefined) await sleep(wait);
      const given = await answer(messages, options);
      if ("content" in given) yield { type: "text", content: given.content };
      else {
        for (const [index, call] of given.tool_calls.entries())
          yield { type: "tool_call", toolCall: { index, ...call } };
      }
      yield { type: "usage", usage: { promptTokens: 10, completionTokens: 7, totalTokens: 17 } };
      yield { type: "finish", finishReason: "content" in given ? "stop" : "tool_calls" };
    },
  };
}

/** The text of a message, whatever its form. */
export function textOf(message: Message | undefined): string {
  if (message === undefined || message.content === null) return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

export const toolCall = (id: string, name: string, input: unknown): Answer => ({
  tool_calls: [{ id, name, arguments: JSON.stringify(input) }],
});

export const result = (text: string): Answer => ({ content: JSON.stringify({ result: text }) });
