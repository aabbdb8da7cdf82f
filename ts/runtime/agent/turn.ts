import { askedFrom } from "../call/identity/lanes.js";
import { dataFields } from "../call/call-data.js";
import { failureFields } from "../call/event-fields.js";
import { storage, type RunContext } from "../scope/run-context.js";
import { AbortError, InvalidSnapshotError, isAbortError, ModelCallError } from "../../errors/index.js";
import { collectStream, type CollectedStream } from "../../model/collect.js";
import type { Message, ToolCall } from "../../types/messages.js";
import type { ModelAdapter, StreamEvent, StreamOptions, ToolSchema } from "../../types/model.js";
import { addModelUsage } from "../usage/budget.js";
import { answerOrCall } from "../call/answer-or-call.js";
import { handOut, noteStart } from "../call/failures/hand-out.js";
import { CallFailure } from "../call/outcome.js";
import type { Conversation, PromptRequest } from "./hashed-conversation.js";
import type { StartedCall } from "../call/started-call.js";
import { announceReplay, makeObserved, modelCall, type ModelCall } from "../call/observers.js";
import type { Scope } from "../scope/scope.js";
import { Span } from "../scope/span.js";
import { deliver, recordedStream, StreamFacts } from "./stream.js";
import { costsOf } from "../usage/usage.js";

/**
 * Sends the conversation to the model, or returns the recorded answer.
 * @throws AbortError, ModelCallError
 */
export async function takeTurn(
  context: RunContext,
  request: PromptRequest,
  conversation: Conversation,
  step: number,
): Promise<Message> {
  const { scope } = context;
  const from = askedFrom(scope);
  context.throwIfAborted();
  noteStart(scope);
  const call = conversation.begin(from);
  const { callId, contentHash } = call;
  const { within } = context;
  const span = new Span(scope, "TURN", context.trace.spanId, () => ({
    step,
    callId,
    contentHash,
    ...(within === undefined ? {} : { within }),
    messages: conversation.listed,
    messageCount: conversation.messages.length,
    ...(request.schema === undefined ? {} : { schema: request.schema }),
    ...(conversation.tools.length === 0 ? {} : { toolConfig: toolConfig(request, conversation) }),
  }));
  span.start(() => ({ ...call.startFields, ...scope.takeHandled() }));
  const inside = context.inSpan(span.spanId);
  const facts = new StreamFacts();
  const notifyWatchers = (event: StreamEvent, replayed: boolean): void => {
    if (!scope.closed) deliver(request.watchers, event, { agentId: scope.agentId, callId, step, replayed });
  };
  const called = (): Omit<ModelCall, "replayed"> => modelCall(call, span.spanId, call.request);
  try {
    const ended = await answerOrCall<Message>(call, {
      beforeReplay: () => announceReplay(called),
      make: () =>
        makeObserved(called, () =>
          callModel(inside, call, request, conversation, (event) => {
            facts.see(event);
            notifyWatchers(event, false);
          }),
        ),
      meta: () => facts.meta,
      errors: request.model.errors,
    });
    const message = ended.value;
    if (ended.cached) checkRecorded(message, callId);
    if (ended.cached && request.watchers.length > 0) {
      inside.run(() => {
        for (const event of recordedStream(message, ended.meta)) notifyWatchers(event, true);
      });
    }
    span.end(() => ({
      message,
      ...(ended.tombstone === undefined ? {} : { tombstone: ended.tombstone }),
      ...dataFields(ended),
      success: true,
      cache: ended.cached,
      resultType: hasToolCalls(message) ? "tool_calls" : "content",
    }));
    return message;
  } catch (failure) {
    if (failure instanceof InvalidSnapshotError) span.endFailed(failure);
    if (!(failure instanceof CallFailure)) throw failure;
    span.end(() => failureFields(failure));
    handOut(call);
    throw failure.error;
  }
}

/** @throws InvalidSnapshotError for an output that was edited to another shape. */
function checkRecorded(message: unknown, callId: string): void {
  const { role, content, tool_calls: calls } = (message ?? {}) as { [Key in keyof Message]?: unknown };
  const isText = (value: unknown): boolean => typeof value === "string";
  const isCall = (call: Partial<ToolCall> | null): boolean =>
    isText(call?.id) && isText(call?.name) && isText(call?.arguments);
  const faults = [
    [role === "assistant", "role", `"assistant"`],
    [content == null || isText(content) || Array.isArray(content), "content", "a string, an array of parts, or null"],
    [
      calls === undefined || (Array.isArray(calls) && calls.every(isCall)),
      "tool_calls",
      "an array of { id, name, arguments } with strings",
    ],
  ] as const;
  const wrong = faults.find(([holds]) => !holds);
  if (wrong === undefined) return;
  const [, field, expected] = wrong;
  throw new InvalidSnapshotError([{ path: `the output of ${callId}, ${field}`, message: `expected ${expected}` }]);
}

export function hasToolCalls(message: Message): boolean {
  return message.tool_calls !== undefined && message.tool_calls.length > 0;
}

function toolConfig(request: PromptRequest, conversation: Conversation): object {
  const { toolChoice } = request;
  return { tools: conversation.tools, ...(toolChoice === undefined ? {} : { toolChoice }) };
}

async function callModel(
  context: RunContext,
  call: StartedCall,
  request: PromptRequest,
  conversation: Conversation,
  onEvent: (event: StreamEvent) => void,
): Promise<Message> {
  const { scope } = context;
  const { model } = request;
  const span = new Span(scope, "MODEL_CALL", context.trace.spanId, () => ({
    adapterId: model.id,
    ...(model.provider === undefined ? {} : { provider: model.provider }),
    messageCount: conversation.messages.length,
    usedTools: conversation.tools.length > 0,
  }));
  span.start();
  try {
    scope.throwIfAborted();
    const options = streamOptions(request, conversation, scope.signal);
    const inside = context.inside(call.entry, span.spanId, true);
    const collected = await storage.run(inside, () =>
      collectStream(model.stream(conversation.messages.slice(), options), (event) => {
        // A stream that continues after an abort is not read to its end.
        scope.throwIfAborted();
        onEvent(event);
      }),
    );
    const costs = costsOf(model, collected.usage);
    addModelUsage(inside, model, collected.usage, costs);
    span.end(() => ({ ...callResult(collected), ...(costs === undefined ? {} : { costs }), success: true }));
    return collected.message;
  } catch (cause) {
    const error = modelError(cause, scope, model);
    span.endFailed(error, () => ({ rawText: "" }));
    throw error;
  }
}

/** The options are copies, because adapters change schemas for their servers. */
function streamOptions(request: PromptRequest, { tools }: Conversation, signal: AbortSignal): StreamOptions {
  const { schema, toolChoice, modelOptions } = request;
  return {
    signal,
    ...structuredClone({
      ...(schema === undefined ? {} : { schema }),
      ...(tools.length === 0 ? {} : { tools: tools as ToolSchema[] }),
      ...(toolChoice === undefined ? {} : { toolChoice }),
      ...(modelOptions === undefined ? {} : { additionalOptions: modelOptions }),
    }),
  };
}

function callResult({ rawText, toolCalls, reasoning, finishReason, ttft, usage }: CollectedStream): object {
  return {
    rawText,
    ...(reasoning === "" || reasoning === undefined ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(ttft === undefined ? {} : { ttft }),
    ...(usage === undefined ? {} : { usage }),
  };
}

function modelError(cause: unknown, scope: Scope, { id, provider }: ModelAdapter): unknown {
  if (scope.signal.aborted) return cause instanceof AbortError ? cause : scope.abortError();
  return isAbortError(cause) ? cause : new ModelCallError(id, cause, { provider, agentId: scope.agentId });
}
