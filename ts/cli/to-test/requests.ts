// What was asked, from the events of a trace. Restored snapshots do not hold it; misses are explained by it.

import { native } from "../../native.js";
import { readTrace } from "../../trace/read.js";
import type { TraceEvent } from "../../types/events.js";
import type { AgentFrameSnapshot, AgentSnapshot, CallRecord, KeptRequest } from "../../types/snapshot.js";

type Document = Readonly<Record<string, unknown>>;

const PARTS = ["model", "options", "schema", "tools"] as const;

/** Puts requests into the calls of a snapshot, as far as the trace tells them. Changes the snapshot. */
export async function addRequests({ root, normalize = [] }: AgentSnapshot, trace: string): Promise<void> {
  const requests = await requestsIn(trace, normalize.length > 0);
  const texts = new Texts((root.requestTexts ??= []));
  const frames: AgentFrameSnapshot[] = [root];
  for (let frame = frames.pop(); frame !== undefined; frame = frames.pop()) {
    for (const { calls = [], children } of [frame, ...(frame.generations ?? [])]) {
      addTo(calls, requests, texts);
      frames.push(...Object.values(children));
    }
  }
}

function addTo(calls: readonly CallRecord[], requests: ReadonlyMap<string, Document>, texts: Texts): void {
  let last: { index: number; messages: readonly number[] } | undefined;
  for (const [index, call] of calls.entries()) {
    const document = requests.get(keyOf(call.callId, call.contentHash));
    if (document === undefined || call.request !== undefined) continue;
    if (call.kind !== "prompt") {
      call.request = { document: texts.place(document) };
      continue;
    }
    const messages = (document["messages"] as unknown[]).map((message) => texts.place(message));
    const continued = last?.messages.every((place, at) => messages[at] === place) === true ? last : undefined;
    const parts = PARTS.filter((part) => document[part] !== undefined).map((part) => [
      part,
      texts.place(document[part]),
    ]);
    call.request = {
      ...(continued === undefined ? {} : { base: continued.index }),
      add: messages.slice(continued?.messages.length ?? 0),
      ...(Object.fromEntries(parts) as Partial<KeptRequest>),
    };
    last = { index, messages };
  }
}

/** Equal texts stand once. */
class Texts {
  readonly #places = new Map<string, number>();
  readonly #texts: unknown[];

  constructor(texts: unknown[]) {
    this.#texts = texts;
    for (const [place, text] of texts.entries()) this.#places.set(JSON.stringify(text), place);
  }

  place(value: unknown): number {
    const text = JSON.stringify(value);
    const place = this.#places.get(text) ?? this.#texts.push(value) - 1;
    this.#places.set(text, place);
    return place;
  }
}

const keyOf = (callId: string, contentHash: string): string => `${contentHash} ${callId}`;

/**
 * The documents that were asked, by call. Only those are told whose hash is that of the call; where requests were
 * normalized, the hash is that of something else.
 */
async function requestsIn(trace: string, normalized: boolean): Promise<Map<string, Document>> {
  const requests = new Map<string, Document>();
  const turns = new Map<string, Extract<TraceEvent, { type: "turn:start" }>>();
  const add = (callId: string | undefined, hash: string | undefined, document: Document): void => {
    if (callId === undefined || hash === undefined) return;
    if (normalized || native.contentHash(JSON.stringify(document)) === hash)
      requests.set(keyOf(callId, hash), document);
  };
  // What cannot be read was told of when the trace was restored.
  for await (const event of readTrace(trace, { onFault() {} })) {
    if (event.type === "turn:start") {
      turns.set(event.trace.spanId, event);
    } else if (event.type === "model:call:start") {
      const turn = turns.get(event.trace.parentSpanId);
      turns.delete(event.trace.parentSpanId);
      if (turn?.messages !== undefined) add(turn.callId, turn.contentHash, promptDocument(turn, event));
    } else if (event.type === "tool:call:start") {
      const { journalCallId, contentHash, input, toolName } = event;
      add(journalCallId, contentHash, { input, name: toolName });
    }
  }
  return requests;
}

function promptDocument(
  { messages, schema, toolConfig }: Extract<TraceEvent, { type: "turn:start" }>,
  { adapterId: id, provider }: Extract<TraceEvent, { type: "model:call:start" }>,
): Document {
  const { tools = [], toolChoice } = toolConfig ?? {};
  return {
    messages,
    model: { id, ...(provider === undefined ? {} : { provider }) },
    ...(toolChoice === undefined ? {} : { options: { toolChoice } }),
    ...(schema === undefined ? {} : { schema }),
    tools,
  };
}
