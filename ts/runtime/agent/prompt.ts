import { checkOptionNames, type OptionNames } from "../../errors/option-names.js";
import { requireContext, type RunContext } from "../scope/run-context.js";
import { AfterPromptAgentError, AttemptsExhaustedError, TurnBudgetExceededError } from "../../errors/index.js";
import { EVENTS } from "../../events/names.js";
import { parseAnswer } from "../../model/answer.js";
import { validateWith } from "../../schema/index.js";
import { requireJsonSchema } from "../../schema/required.js";
import type { Message, ToolChoice } from "../../types/messages.js";
import type { ModelAdapter } from "../../types/model.js";
import type { InferOutput, StandardSchemaLike } from "../../types/schema.js";
import { encodeValue, type Encoded } from "../../values/encode.js";
import { Conversation, type PromptRequest } from "./hashed-conversation.js";
import { deepFreeze } from "../../values/freeze.js";
import { modelOf } from "./model-choice.js";
import { shown } from "../call/event-fields.js";
import type { Generation } from "../scope/generation.js";
import { Span, emitEvent } from "../scope/span.js";
import type { StreamConsumer } from "../scope/watcher.js";
import { streamWatchers } from "./stream.js";
import { answerToolCalls } from "./tool-calls.js";
import { hasToolCalls, takeTurn } from "./turn.js";

export interface PromptOptions {
  /** Restricts the tools that the model may or must call. Part of the request's hash. */
  toolChoice?: ToolChoice;
  /**
   * Options for the model, such as `{ temperature: 0, seed: 7 }`. The adapter receives them as `additionalOptions`.
   * Part of the request's hash. They must be JSON; `undefined` members are ignored.
   */
  modelOptions?: Readonly<Record<string, unknown>>;
  /** JSON schema of the answer, for a schema library that cannot create one. Default: created by the library. */
  jsonSchema?: Readonly<Record<string, unknown>>;
  /** Receives the model's answers of all turns while they arrive; on replay, as recorded. */
  onStream?: StreamConsumer;
}

const OPTION_NAMES: OptionNames<PromptOptions> = {
  toolChoice: true,
  modelOptions: true,
  jsonSchema: true,
  onStream: true,
};
const POLICY_ID = "standard-structure";
const SCHEMA_PLACE = { owner: "promptAgent", remedy: "promptAgent(schema, { jsonSchema })" };

/**
 * Prompts the model with the equipped messages and tools, lets it call tools until it answers, and validates the answer
 * with the schema. If the answer is invalid, the model gets a list of its faults and answers again.
 *
 * @param schema of zod 3.25+, zod 4, or another library that supports Standard Schema, such as valibot or ArkType.
 * @throws AfterPromptAgentError if called twice in a generation.
 * @throws AttemptsExhaustedError if `maxRetries` further answers did not fit the schema.
 * @throws TurnBudgetExceededError if the model still calls tools after `maxTurnSteps` turns.
 * @throws JsonSchemaNotFoundError if no JSON schema was given, and the library of the schema or of a tool has none.
 * @throws ModelCallError, ModelNotFoundError, ModelRegistryNotFoundError, AbortError
 * @throws TypeError if the schema is invalid, or the options are not JSON.
 *
 * @example
 * ```ts
 * import { createAgent, equipInstruction, equipTool, promptAgent } from "agent-rewind";
 * import { z } from "zod";
 *
 * export const traveller = createAgent({
 *   id: "traveller",
 *   handler: async ({ city }: { city: string }) => {
 *     equipInstruction(`What should I wear in ${city} today?`);
 *     equipTool({
 *       name: "weather",
 *       description: "Returns the weather of a city",
 *       parameters: z.object({ city: z.string() }),
 *       handler: async (input: { city: string }) => ({ ...input, celsius: 21 }),
 *     });
 *     const { advice } = await promptAgent(z.object({ advice: z.string() }), {
 *       modelOptions: { temperature: 0 },
 *     });
 *     return advice;
 *   },
 * });
 * ```
 */
export async function promptAgent<S extends StandardSchemaLike>(
  schema: S,
  options: PromptOptions = {},
): Promise<InferOutput<S>> {
  const outer = requireContext("promptAgent");
  const { scope, generation } = outer;
  if (generation.prompted) throw new AfterPromptAgentError("promptAgent");
  checkOptionNames("promptAgent: options", options, OPTION_NAMES);
  outer.throwIfAborted();
  const model = modelOf(scope);
  const request: PromptRequest = {
    model,
    schema: deepFreeze(requireJsonSchema(schema, options.jsonSchema, SCHEMA_PLACE)),
    tools: generation.tools,
    toolChoice: ownOption("toolChoice", options.toolChoice),
    modelOptions: ownOption("modelOptions", allModelOptions(model, options)),
    watchers: [...scope.settings.streamWatchers, ...streamWatchers("promptAgent", options.onStream)],
  };
  const about = { generationId: generation.id, policyId: POLICY_ID };
  const span = new Span(scope, "PROMPT_AGENT", outer.trace.spanId, () => about);
  const prompt = new Prompt(outer.inSpan(span.spanId), request, firstMessages(generation));
  generation.prompted = true;
  span.start();
  try {
    const result = await prompt.run(schema);
    span.end(() => ({ result: shown(result), totalSteps: prompt.steps, success: true }));
    return result as InferOutput<S>;
  } catch (error) {
    span.endFailed(error, () => ({ totalSteps: prompt.steps }));
    throw error;
  }
}

function allModelOptions(model: ModelAdapter, { modelOptions }: PromptOptions): PromptOptions["modelOptions"] {
  if (model.modelOptions === undefined || modelOptions === undefined) return modelOptions ?? model.modelOptions;
  return { ...model.modelOptions, ...modelOptions };
}

/** A copy of an option, so that every turn sends the hashed value. */
function ownOption<T>(name: keyof PromptOptions, option: T): T {
  if (option === undefined) return option;
  const encoded = encodeValue(option);
  const refused = "tombstone" in encoded ? encoded.tombstone : firstNonJson(encoded.types);
  if (refused !== undefined) {
    const path = `options.${name}${refused.path.replaceAll("/", ".")}`;
    throw new TypeError(
      `promptAgent: ${path} cannot be hashed: ${refused.reason}. Options must be JSON. Convert the value first.`,
    );
  }
  return JSON.parse((encoded as Encoded).text) as T;
}

function firstNonJson(types: string | null): { path: string; reason: string } | undefined {
  const tags = Object.entries(JSON.parse(types ?? "{}") as Record<string, string>);
  const found = tags.find(([, tag]) => tag !== "undefined");
  return found && { path: found[0], reason: `${found[1]} is not JSON` };
}

function firstMessages(generation: Generation): Message[] {
  const systems = generation.systems.map((content): Message => ({ role: "system", content }));
  const instructions = generation.instructions.map((parts): Message => ({
    role: "user",
    content: parts,
    extra: { rejelly: { kind: "instruction" } },
  }));
  return [...systems, ...instructions];
}

class Prompt {
  steps = 0;
  readonly #context: RunContext;
  readonly #request: PromptRequest;
  readonly #conversation: Conversation;

  constructor(context: RunContext, request: PromptRequest, messages: readonly Message[]) {
    this.#context = context;
    this.#request = request;
    this.#conversation = new Conversation(context, request, messages);
  }

  async run(schema: StandardSchemaLike): Promise<unknown> {
    const { maxRetries } = this.#context.scope.settings;
    for (let attempt = 0; ; attempt += 1) {
      const answer = await this.#answer();
      const checked = await this.#check(schema, answer, attempt);
      if ("value" in checked) return checked.value;
      if (attempt >= maxRetries) {
        throw new AttemptsExhaustedError(this.#context.agentId, attempt + 1, checked.faults, {
          rawText: textOf(answer),
        });
      }
      this.#conversation.append([answer, askAgain(checked.faults)]);
    }
  }

  /** Takes turns until the model answers with content. */
  async #answer(): Promise<Message> {
    const { maxTurnSteps } = this.#context.scope.settings;
    for (;;) {
      if (this.steps >= maxTurnSteps) throw new TurnBudgetExceededError(this.#context.agentId, maxTurnSteps);
      const message = await takeTurn(this.#context, this.#request, this.#conversation, this.steps);
      this.steps += 1;
      if (!hasToolCalls(message)) return message;
      const answers = await answerToolCalls(this.#context, message.tool_calls ?? [], this.#request.tools);
      this.#conversation.append([message, ...answers]);
    }
  }

  async #check(
    schema: StandardSchemaLike,
    answer: Message,
    attempt: number,
  ): Promise<{ value: unknown } | { faults: string[] }> {
    const rawText = textOf(answer);
    const checked = await checkAnswer(schema, rawText);
    const about = { rawText, parserId: "json", attempt };
    const isValid = "value" in checked;
    const type = isValid ? EVENTS.VALIDATION_SUCCESS : EVENTS.VALIDATION_FAIL;
    emitEvent(this.#context.scope, type, this.#context.trace.spanId, () =>
      isValid
        ? { ...about, data: shown(checked.value), success: true }
        : { ...about, errors: checked.faults, success: false },
    );
    return checked;
  }
}

async function checkAnswer(
  schema: StandardSchemaLike,
  rawText: string,
): Promise<{ value: unknown } | { faults: string[] }> {
  const parsed = parseAnswer(rawText);
  // A schema for plain text accepts the text itself.
  const candidate = "ok" in parsed ? parsed.ok : rawText;
  const checked = await validateWith(schema, candidate);
  if ("value" in checked) return checked;
  if (!("ok" in parsed)) return { faults: [`the answer is not JSON: ${parsed.error}`] };
  const asText = await validateWith(schema, rawText);
  if ("value" in asText) return asText;
  return { faults: checked.issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)) };
}

function textOf(message: Message): string {
  if (typeof message.content === "string") return message.content;
  if (message.content === null) return "";
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function askAgain(faults: readonly string[]): Message {
  const list = faults.map((fault) => `- ${fault}`).join("\n");
  return {
    role: "user",
    content: `The answer does not fit the schema:\n${list}\nAnswer again with JSON that fits the schema, and nothing else.`,
  };
}
