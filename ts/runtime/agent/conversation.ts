import type { NativeBegun, NativeConversation, NativeRequestTail } from "../../native.js";
import { calling } from "../../native.js";
import { foreignToolSchemas, toolSchemas } from "../../schema/tools.js";
import type { Message, ToolChoice } from "../../types/messages.js";
import type { ModelAdapter, ToolSchema } from "../../types/model.js";
import type { Tool } from "../../types/tool.js";
import type { Redaction } from "../../redact/redaction.js";
import { deepFreeze } from "../../values/freeze.js";
import type { Normalizer } from "../../values/normalize.js";
import type { Scope } from "../scope/scope.js";
import type { StreamWatcher } from "../scope/watcher.js";

/** What a prompt asks beside its messages. */
export interface PromptRequest {
  readonly model: ModelAdapter;
  readonly schema: Record<string, unknown> | undefined;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly toolChoice: ToolChoice | undefined;
  readonly modelOptions: Readonly<Record<string, unknown>> | undefined;
  /** Who takes the answers as they come. */
  readonly watchers: readonly StreamWatcher[];
}

/** The messages of a prompt, hashed as they grow: each is read once. */
export class Conversation {
  readonly tools: readonly ToolSchema[];
  readonly #scope: Scope;
  readonly #request: PromptRequest;
  readonly #messages: Message[] = [];
  #listed: readonly Message[] | undefined;
  readonly #hasher: NativeConversation;
  readonly #tail: NativeRequestTail;
  readonly #tailText: string;
  readonly #normalizer: Normalizer | undefined;
  readonly #redaction: Redaction | undefined;
  /** What is sent, where what is recorded of it is redacted. */
  readonly #wire: { readonly hasher: NativeConversation; readonly tail: NativeRequestTail } | undefined;
  /** The messages as they are recorded, as JSON texts of lists. */
  readonly #recorded: string[] = [];

  constructor(scope: Scope, request: PromptRequest, messages: readonly Message[]) {
    const { native } = scope.run;
    this.#scope = scope;
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

  /** All messages so far; frozen, so that the hash stays true. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** All messages so far in a list that stays as it is: made once a turn, and shared by all who are told of it. */
  get listed(): readonly Message[] {
    return (this.#listed ??= Object.freeze(this.#messages.slice()));
  }

  /** Appends messages that are the package's own: they are frozen, not copied. */
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
  begin(callId: string): NativeBegun {
    const foreign = this.#scope.frame.hasForeignHashes ? this.#foreignText() : undefined;
    const { frame } = this.#scope;
    const id = JSON.stringify(callId);
    if (this.#normalizer === undefined || this.#normalizer.byMessage) {
      return calling(() => frame.beginPrompt(id, this.#hasher, this.#tail, foreign));
    }
    // A rule that reads the whole document: there is no hash to go on from.
    const text = this.document();
    const normalized = this.#normalizer.document(text, "prompt");
    return calling(() => frame.begin('"prompt"', id, text, foreign, normalized));
  }

  /** The request as one document, as it is recorded: JSON text. */
  document(): string {
    const messages =
      this.#redaction === undefined
        ? JSON.stringify(this.#messages)
        : `[${this.#recorded
            .map((list) => list.slice(1, -1))
            .filter((list) => list !== "")
            .join(",")}]`;
    return `{"messages":${messages},${this.#tailText.slice(1)}`;
  }

  /** Hash of the request as it is sent, where what is recorded of it is redacted. */
  get wireHash(): (() => string) | undefined {
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
    // Without a member for what was not set, so that a later version may add options.
    options: Object.keys(options).length === 0 ? undefined : options,
    schema: request.schema,
    tools,
  });
}
