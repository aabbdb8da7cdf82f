import type { NativeStartedCall, NativeConversation, NativeRequestTail } from "../../native.js";
import { calling } from "../../native.js";
import { foreignToolSchemas, toolSchemas } from "../../schema/tools.js";
import type { Message, ToolChoice } from "../../types/messages.js";
import type { ModelAdapter, ToolSchema } from "../../types/model.js";
import type { Tool } from "../../types/tool.js";
import type { Redaction } from "../../redact/redaction.js";
import { deepFreeze } from "../../values/freeze.js";
import { laneToFind, type AskedFrom } from "../call/identity/lanes.js";
import { CallEntry, StartedCall } from "../call/started-call.js";
import type { Normalizer } from "../../values/normalize.js";
import type { RunContext } from "../scope/run-context.js";
import type { StreamWatcher } from "../scope/watcher.js";

/** The parts of a prompt other than its messages. */
export interface PromptRequest {
  readonly model: ModelAdapter;
  readonly schema: Record<string, unknown> | undefined;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly toolChoice: ToolChoice | undefined;
  readonly modelOptions: Readonly<Record<string, unknown>> | undefined;
  /** Receive the answers while they arrive. */
  readonly watchers: readonly StreamWatcher[];
}

/** The messages of a prompt. Their hash is incremental: each message is read once. */
export class Conversation {
  readonly tools: readonly ToolSchema[];
  readonly #context: RunContext;
  readonly #request: PromptRequest;
  readonly #messages: Message[] = [];
  #listed: readonly Message[] | undefined;
  readonly #hasher: NativeConversation;
  readonly #tail: NativeRequestTail;
  readonly #tailText: string;
  readonly #normalizer: Normalizer | undefined;
  readonly #redaction: Redaction | undefined;
  /** The request as it is sent. Only if its recording is redacted. */
  readonly #wire: { readonly hasher: NativeConversation; readonly tail: NativeRequestTail } | undefined;
  /** The redacted messages: JSON texts of lists. */
  readonly #recorded: string[] = [];

  constructor(context: RunContext, request: PromptRequest, messages: readonly Message[]) {
    const { scope } = context;
    const { native } = scope.run;
    this.#context = context;
    this.#request = request;
    this.tools = deepFreeze(toolSchemas(request.tools.values()));
    this.#hasher = new native.Conversation(scope.run.requests);
    const sent = tailText(request, this.tools);
    this.#redaction = scope.run.redaction;
    const tail = this.#redaction?.json(sent) ?? sent;
    this.#wire =
      this.#redaction === undefined
        ? undefined
        : calling(() => ({ hasher: new native.Conversation(false), tail: new native.RequestTail(sent) }));
    this.#normalizer = scope.run.normalizer;
    this.#tailText = tail;
    const normalized = this.#normalizer?.byMessage === true ? this.#normalizer.document(tail, "prompt") : undefined;
    this.#tail = calling(() => new native.RequestTail(tail, normalized));
    this.append(messages);
  }

  /** All messages so far. They are frozen, so that the hash stays valid. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** An immutable list of all messages so far. Created once per turn, and shared by all events. */
  get listed(): readonly Message[] {
    return (this.#listed ??= Object.freeze(this.#messages.slice()));
  }

  /** Appends messages. They are frozen, not copied, so the caller must own them. */
  append(messages: readonly Message[]): void {
    const sent = JSON.stringify(messages);
    const text = this.#redaction?.json(sent) ?? sent;
    if (this.#redaction !== undefined) this.#recorded.push(text);
    calling(() => this.#wire?.hasher.append(sent));
    const normalized =
      this.#normalizer?.byMessage === true ? this.#normalizer.messages(text, this.#messages.length) : undefined;
    calling(() => this.#hasher.append(text, normalized));
    for (const message of messages) this.#messages.push(deepFreeze(message));
    this.#listed = undefined;
  }

  /** Starts the call that sends all messages so far. */
  begin(from: AskedFrom): StartedCall {
    const name = this.#request.model.id;
    const callId = this.#context.scope.nextCallId("prompt", name);
    const request = (): string => this.#document();
    const recorded = this.#beginNative(JSON.stringify(callId), laneToFind(this.#context.scope, from));
    const entry = new CallEntry(callId, from, recorded);
    return new StartedCall(this.#context, { kind: "prompt", name, request, wireHash: this.#wireHash }, entry);
  }

  #beginNative(callId: string, lane: string | undefined): NativeStartedCall {
    const { scope, within } = this.#context;
    const { frame } = scope;
    const outer = within === undefined ? undefined : JSON.stringify(within);
    const foreign = scope.rules.foreignHashes ? this.#foreignText() : undefined;
    if (this.#normalizer === undefined || this.#normalizer.byMessage) {
      return calling(() => frame.beginPrompt(callId, this.#hasher, this.#tail, foreign, outer, lane));
    }
    // A rule reads the whole document, so the hash cannot be incremental.
    const text = this.#document();
    const normalized = this.#normalizer.document(text, "prompt");
    return calling(() => frame.begin('"prompt"', callId, text, foreign, normalized, false, outer, lane));
  }

  #document(): string {
    const messages =
      this.#redaction === undefined
        ? JSON.stringify(this.#messages)
        : `[${this.#recorded
            .map((list) => list.slice(1, -1))
            .filter((list) => list !== "")
            .join(",")}]`;
    return `{"messages":${messages},${this.#tailText.slice(1)}`;
  }

  get #wireHash(): (() => string) | undefined {
    const wire = this.#wire;
    return wire === undefined ? undefined : () => calling(() => wire.hasher.hash(wire.tail));
  }

  /** The request in the form that recordings of `@rejelly/core` hash. */
  #foreignText(): string {
    const { model, schema, tools } = this.#request;
    return JSON.stringify([this.#messages, schema ?? null, modelName(model), foreignToolSchemas(tools.values())]);
  }
}

function modelName(model: ModelAdapter): { id: string; provider?: string } {
  return model.provider === undefined ? { id: model.id } : { id: model.id, provider: model.provider };
}

function tailText(request: PromptRequest, tools: readonly ToolSchema[]): string {
  const options = {
    ...request.modelOptions,
    ...(request.toolChoice === undefined ? {} : { toolChoice: request.toolChoice }),
  };
  return JSON.stringify({
    model: modelName(request.model),
    // Options that are not set have no member, so that a later version can add options.
    options: Object.keys(options).length === 0 ? undefined : options,
    schema: request.schema,
    tools,
  });
}
