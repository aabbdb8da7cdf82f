import { AbortError } from "../errors/context.js";
import type { StreamEvent } from "../types/model.js";
import type { MockAnswer, MockRequest, MockToolCall } from "./types.js";

/**
 * Streams an answer.
 * @throws AbortError, and the error of the answer after its last event.
 */
export async function* streamAnswer(answer: MockAnswer, request: MockRequest): AsyncGenerator<StreamEvent> {
  const { signal } = request.options;
  const { delay = 0, chunkDelay = 0 } = answer;
  await wait(delay, signal);
  let isFirst = true;
  for (const event of eventsOf(answer, request)) {
    if (!isFirst) await wait(chunkDelay, signal);
    isFirst = false;
    yield event;
  }
  if ("error" in answer) throw answer.error;
}

function* eventsOf(answer: MockAnswer, request: MockRequest): Generator<StreamEvent> {
  const { reasoning = "", toolCalls = [], extra, usage, chunks, finishReason } = answer;
  const size = typeof chunks === "number" ? chunks : undefined;
  for (const content of cut(reasoning, size)) yield { type: "reasoning", content };
  const text = answer.text ?? ("json" in answer ? JSON.stringify(answer.json) : "");
  for (const content of typeof chunks === "object" ? chunks : cut(text, size)) yield { type: "text", content };
  const before = request.messages.reduce((count, message) => count + (message.tool_calls?.length ?? 0), 0);
  for (const [index, call] of toolCalls.entries()) {
    const [first = "", ...rest] = cut(inputText(call), size);
    const id = call.id ?? `call_${before + index}`;
    yield { type: "tool_call", toolCall: { index, id, name: call.name, arguments: first } };
    for (const piece of rest) yield { type: "tool_call", toolCall: { index, arguments: piece } };
  }
  if (extra !== undefined) yield { type: "extra", extra };
  if (usage !== undefined) yield { type: "usage", usage };
  // An answer that fails has no finish event.
  if (finishReason === null || "error" in answer) return;
  yield { type: "finish", finishReason: finishReason ?? (toolCalls.length > 0 ? "tool_calls" : "stop") };
}

function inputText({ arguments: input = {} }: MockToolCall): string {
  return typeof input === "string" ? input : JSON.stringify(input);
}

function cut(text: string, size: number | undefined): string[] {
  if (text === "") return [];
  if (size === undefined) return [text];
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

/** Uses the global timer of the moment, so that fake timers apply. */
async function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) throw new AbortError(signal.reason);
  if (milliseconds <= 0) return;
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(new AbortError(signal?.reason));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
