import type { Message, ModelAdapter, StreamEvent, StreamOptions } from "agent-rewind";

export const question: Message[] = [{ role: "user", content: "What?" }];

/** All events of an answer. */
export async function eventsOf(
  model: ModelAdapter,
  { messages = question, ...options }: StreamOptions & { messages?: Message[] } = {},
): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  for await (const event of model.stream(messages, options)) events.push(event);
  return events;
}

/** The error that a call fails with. */
export async function failureOf(call: Promise<unknown>): Promise<Record<string, any>> {
  return call.then(
    (value) => {
      throw new Error(`it did not fail, but gave ${JSON.stringify(value)}`);
    },
    (error: Record<string, any>) => error,
  );
}
