// The requests of a run, from the events of its trace. Restored snapshots lack them.

import { native } from "../../native.js";
import type { ListedCall } from "../../snapshot/read-model.js";
import { readTrace } from "../../trace/read.js";
import type { TraceEvent } from "../../types/events.js";

/** Returns the JSON text of the request document of a call, if the trace contains it. */
export type FindRequest = (call: ListedCall) => string | null;

/**
 * Reads the requests of a trace file. A request is left out if its hash is not that of its call. If the run normalized
 * its requests, this cannot be checked, because the hashes are those of the normalized documents.
 */
export async function requestsIn(trace: string, normalized: boolean): Promise<FindRequest> {
  const requests = new Map<string, string>();
  const turns = new Map<string, Extract<TraceEvent, { type: "turn:start" }>>();
  const add = (callId: string | undefined, hash: string | undefined, document: object): void => {
    if (callId === undefined || hash === undefined) return;
    const text = JSON.stringify(document);
    if (normalized || native.contentHash(text) === hash) requests.set(keyOf(callId, hash), text);
  };
  // Restoring the trace has already reported unreadable lines.
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
  return ({ callId, contentHash }) => requests.get(keyOf(callId, contentHash)) ?? null;
}

const keyOf = (callId: string | undefined, contentHash: string): string => `${contentHash} ${callId}`;

function promptDocument(
  { messages, schema, toolConfig }: Extract<TraceEvent, { type: "turn:start" }>,
  { adapterId: id, provider }: Extract<TraceEvent, { type: "model:call:start" }>,
): object {
  const { tools = [], toolChoice } = toolConfig ?? {};
  return {
    messages,
    model: { id, ...(provider === undefined ? {} : { provider }) },
    ...(toolChoice === undefined ? {} : { options: { toolChoice } }),
    ...(schema === undefined ? {} : { schema }),
    tools,
  };
}
