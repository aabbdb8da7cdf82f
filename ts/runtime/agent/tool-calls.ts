import { checkFunction, checkObject, checkText } from "../../errors/received.js";
import { requireContext, storage, type RunContext } from "../scope/run-context.js";
import { InvalidToolOutputError, isAbortError, isReplayMissError, isUncertainEffectError } from "../../errors/index.js";
import { validateWith } from "../../schema/index.js";
import type { Message, ToolCall } from "../../types/messages.js";
import type { ErrorInfo } from "../../types/snapshot.js";
import type { Tool } from "../../types/tool.js";
import { encodeInput, encodeValue } from "../../values/encode.js";
import { toErrorInfo } from "../../values/error-info.js";
import { beginCall } from "../call/request.js";
import { checkEffect } from "../call/effects.js";
import { answerOrCall } from "../call/answer-or-call.js";
import { handOut, noteStart } from "../call/failures/hand-out.js";
import type { CallFailure, Ended } from "../call/outcome.js";
import { newSpanId } from "../scope/ids.js";
import { Span } from "../scope/span.js";
import { dataFields } from "../call/call-data.js";
import { failureFields, outputFields } from "../call/event-fields.js";

/** One call of a batch. `id` is the id that the model gave it, if a model requested it. */
interface ToolRequest {
  readonly id: string;
  readonly toolName: string;
  readonly tool: Tool | undefined;
  /** The input, or the reason why it is invalid. */
  readonly input: { readonly value: unknown } | { readonly error: Error };
}

/** A row of the event that ends a batch. */
interface ToolResult {
  readonly callId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly duration: number;
  readonly success: boolean;
  readonly output?: unknown;
  readonly outputTypes?: Record<string, string>;
  readonly tombstone?: string;
  readonly error?: ErrorInfo;
  readonly cache?: boolean;
  readonly contentHash?: string;
  readonly within?: string;
  readonly spanId?: string;
}

type Outcome = { readonly value: unknown; readonly text: string } | { readonly error: unknown };

/**
 * Calls a tool in the current context, journaled and traced as if a model had called it.
 * @throws the error of the tool, or a TypeError with the faults of the input.
 */
export async function callTool<Input, Output>(tool: Tool<Input, Output>, args: Input): Promise<Output> {
  const context = requireContext("callTool");
  checkObject("callTool: tool", tool);
  checkText("callTool: tool.name", tool.name);
  checkFunction("callTool: tool.handler", tool.handler);
  context.throwIfAborted();
  const request: ToolRequest = { id: newSpanId(), toolName: tool.name, tool: tool as Tool, input: { value: args } };
  const [outcome] = await runBatch(context, [request]);
  if (outcome === undefined || "error" in outcome) throw outcome?.error;
  return outcome.value as Output;
}

/** Runs the tool calls of one model turn in parallel, and returns the messages that answer them. */
export async function answerToolCalls(
  context: RunContext,
  calls: readonly ToolCall[],
  tools: ReadonlyMap<string, Tool>,
): Promise<Message[]> {
  const requests = calls.map((call): ToolRequest => {
    return { id: call.id, toolName: call.name, tool: tools.get(call.name), input: parseArguments(call) };
  });
  const outcomes = await runBatch(context, requests);
  return outcomes.map((outcome, index) => {
    const request = requests[index] as ToolRequest;
    if (!("error" in outcome)) return { role: "tool", tool_call_id: request.id, content: outcome.text };
    // These are not failures of the tool: the agent must stop.
    if (
      isReplayMissError(outcome.error) ||
      isUncertainEffectError(outcome.error) ||
      (isAbortError(outcome.error) && context.signal.aborted)
    )
      throw outcome.error;
    return { role: "tool", tool_call_id: request.id, content: failureText(request.toolName, outcome.error) };
  });
}

function parseArguments(call: ToolCall): ToolRequest["input"] {
  try {
    return { value: call.arguments.trim() === "" ? {} : (JSON.parse(call.arguments) as unknown) };
  } catch (cause) {
    return { error: new SyntaxError(`the arguments of the call are not JSON: ${call.arguments}`, { cause }) };
  }
}

function failureText(toolName: string, error: unknown): string {
  return JSON.stringify({ error: true, message: `Tool "${toolName}" execution failed: ${String(error)}` });
}

async function runBatch(context: RunContext, requests: readonly ToolRequest[]): Promise<Outcome[]> {
  const { scope } = context;
  const span = new Span(scope, "TOOLS_EXECUTE", context.trace.spanId, () => ({
    toolCallsCount: requests.length,
    toolNames: requests.map((request) => request.toolName),
  }));
  // The calls begin only after input checks and middlewares, which await.
  noteStart(scope);
  span.start(() => scope.takeHandled());
  const inside = context.inSpan(span.spanId);
  const ended = await Promise.all(requests.map((request) => runTool(inside, request)));
  span.end(() => {
    const failureCount = ended.filter(({ outcome }) => "error" in outcome).length;
    return {
      successCount: ended.length - failureCount,
      failureCount,
      toolResults: ended.map(({ result }) => result),
      success: failureCount === 0,
      ...(failureCount === 0 ? {} : { error: toErrorInfo(new Error(`${failureCount} tool(s) failed`)) }),
    };
  });
  return ended.map(({ outcome }) => outcome);
}

async function runTool(context: RunContext, request: ToolRequest): Promise<{ outcome: Outcome; result: ToolResult }> {
  const startedAt = performance.now();
  const call = new ToolRun(context, request);
  try {
    const value = await call.run();
    return { outcome: { value, text: outputText(request, call.ended, value) }, result: call.result(startedAt) };
  } catch (error) {
    return { outcome: { error }, result: { ...call.result(startedAt), success: false, error: toErrorInfo(error) } };
  }
}

function outputText({ tool }: ToolRequest, ended: Ended<unknown> | undefined, value: unknown): string {
  if (typeof value === "string") return value;
  // A middleware may have changed or replaced the tool's output.
  const untouched = tool?.middlewares === undefined || tool.middlewares.length === 0;
  if (untouched && ended?.encoded !== undefined) return ended.encoded.text;
  const encoded = encodeValue(value);
  return "tombstone" in encoded ? String(value) : encoded.text;
}

/** One tool call: through the middlewares to the journal, and to the handler if it is live. */
class ToolRun {
  ended: Ended<unknown> | undefined;
  readonly #context: RunContext;
  readonly #request: ToolRequest;
  #input: unknown;
  #contentHash: string | undefined;
  #spanId: string | undefined;
  #cached = false;

  constructor(context: RunContext, request: ToolRequest) {
    this.#context = context;
    this.#request = request;
    this.#input = "value" in request.input ? request.input.value : undefined;
  }

  async run(): Promise<unknown> {
    const { tool, input, toolName } = this.#request;
    if (tool === undefined) throw new ReferenceError(`there is no tool named "${toolName}"`);
    if ("error" in input) throw input.error;
    const valid = await validateWith(tool.parameters, input.value);
    if ("issues" in valid) {
      const faults = valid.issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
      throw new TypeError(`invalid input: ${faults.join("; ")}`);
    }
    const layers = tool.middlewares ?? [];
    const enter = (index: number, current: unknown): Promise<unknown> => {
      const layer = layers[index];
      if (layer === undefined) return this.#journaled(tool, current);
      return layer.handler({ toolName, input: current }, (next = current) => enter(index + 1, next));
    };
    return enter(0, valid.value);
  }

  result(startedAt: number): ToolResult {
    return {
      callId: this.#request.id,
      toolName: this.#request.toolName,
      input: this.#input,
      ...(this.ended === undefined ? {} : outputFields(this.ended)),
      duration: performance.now() - startedAt,
      success: true,
      cache: this.#cached,
      ...(this.#contentHash === undefined ? {} : { contentHash: this.#contentHash }),
      ...(this.#context.within === undefined ? {} : { within: this.#context.within }),
      ...(this.#spanId === undefined ? {} : { spanId: this.#spanId }),
    };
  }

  /** The innermost layer: answered from the recording, or executed and journaled. */
  async #journaled(tool: Tool, input: unknown): Promise<unknown> {
    const { scope } = this.#context;
    checkEffect(`tool "${tool.name}"`, tool);
    this.#context.throwIfAborted();
    noteStart(scope);
    const call = beginCall(this.#context, "tool", tool.name, input);
    const { callId, contentHash } = call;
    const { within } = this.#context;
    const span = new Span(scope, "TOOL_CALL", this.#context.trace.spanId, () => ({
      toolName: tool.name,
      callId: this.#request.id,
      journalCallId: callId,
      contentHash,
      ...(within === undefined ? {} : { within }),
      input: this.#input,
    }));
    // A copy of what was hashed: the handler may change its input.
    this.#input = scope.run.emitter.observed ? (JSON.parse(encodeInput(input).text) as unknown) : input;
    this.#contentHash = contentHash;
    this.#spanId = span.spanId;
    span.start(() => ({ ...call.startFields, ...scope.takeHandled() }));
    const inside = this.#context.inside(call.entry, span.spanId, false);
    try {
      const ended = await answerOrCall(call, {
        make: () => storage.run(inside, () => tool.handler(input, call.info())),
        ...(tool.effect === undefined ? {} : { effect: { rules: tool, input } }),
        refuse: ({ path, reason }) => new InvalidToolOutputError(tool.name, path, reason),
      });
      this.ended = ended;
      this.#cached = ended.cached;
      span.end(() => ({ ...outputFields(ended), ...dataFields(ended), success: true, cache: ended.cached }));
      return ended.value;
    } catch (failure) {
      const { error, cached } = failure as CallFailure;
      this.#cached = cached;
      span.end(() => failureFields(failure as CallFailure));
      handOut(call);
      throw error;
    }
  }
}
