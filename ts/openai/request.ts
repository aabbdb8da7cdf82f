import type { ContentPart, Message, ToolCall } from "../types/messages.js";
import type { StreamOptions, ToolSchema } from "../types/model.js";
import type { StructuredOutput } from "./options.js";
import { type Settings, splitOptions } from "./settings.js";
import { canBeStrict } from "./strict-schema.js";

/** The name of the tool that the model calls with its answer, with structuredOutput "tool". */
export const ANSWER_TOOL = "answer";
const ANSWER_TOOL_USE = "Gives the final answer. Call it once, when the answer is known.";

export interface WireRequest {
  readonly body: Record<string, unknown>;
  /** The arguments of a call to this tool are the answer. */
  readonly answerTool: string | undefined;
}

/**
 * Builds the request for the endpoint.
 * @throws TypeError for options and messages that cannot be sent.
 */
export function wireRequest(
  model: string,
  messages: readonly Message[],
  { schema, tools = [], toolChoice, additionalOptions }: StreamOptions,
  { stream, includeUsage }: { stream: boolean; includeUsage: boolean },
): WireRequest {
  const { settings, sent } = splitOptions(additionalOptions);
  const form = formOf(schema, settings.structuredOutput);
  const allMessages = form === "json_object" || form === "prompt" ? withInstructions(messages, schema) : messages;
  const allTools = tools.map((tool) => wireTool(tool, settings.strictTools));
  const answerTool = form === "tool" ? freeName(ANSWER_TOOL, tools) : undefined;
  if (answerTool !== undefined)
    allTools.push(wireTool({ name: answerTool, description: ANSWER_TOOL_USE, parameters: schema ?? {} }, true));
  return {
    answerTool,
    body: {
      ...sent,
      model,
      messages: allMessages.map((message) => wireMessage(message, settings)),
      ...(allTools.length === 0 ? {} : { tools: allTools }),
      ...toolChoiceOf(toolChoice, tools, answerTool),
      ...responseFormat(form, schema),
      ...(stream ? { stream: true } : {}),
      ...(stream && includeUsage
        ? { stream_options: { include_usage: true, ...(sent["stream_options"] as object) } }
        : {}),
    },
  };
}

/** The way to request this answer; `undefined` for plain text. */
function formOf(schema: StreamOptions["schema"], wanted: StructuredOutput): StructuredOutput | undefined {
  if (schema === undefined || isAnyText(schema)) return undefined;
  // The protocol supports only schemas of objects.
  return schema["type"] === "object" ? wanted : "prompt";
}

function isAnyText(schema: Record<string, unknown>): boolean {
  return schema["type"] === "string" && Object.keys(schema).every((keyword) => PLAIN_TEXT.has(keyword));
}

const PLAIN_TEXT = new Set(["type", "$schema", "title", "description"]);

function responseFormat(form: StructuredOutput | undefined, schema: StreamOptions["schema"] = {}): object {
  if (form === "json_object") return { response_format: { type: "json_object" } };
  if (form !== "json_schema") return {};
  const json_schema = { name: "answer", schema: withoutDialect(schema), strict: canBeStrict(schema) };
  return { response_format: { type: "json_schema", json_schema } };
}

/** `asked`: true to be strict if the schema allows it. */
function wireTool({ name, description, parameters }: ToolSchema, asked: boolean): object {
  const strict = asked && canBeStrict(parameters) ? { strict: true } : {};
  return { type: "function", function: { name, description, parameters: withoutDialect(parameters), ...strict } };
}

function toolChoiceOf(
  toolChoice: StreamOptions["toolChoice"],
  tools: readonly ToolSchema[],
  answerTool: string | undefined,
): object {
  if (answerTool === undefined)
    return tools.length === 0 || toolChoice === undefined ? {} : { tool_choice: toolChoice };
  if (typeof toolChoice === "object") return { tool_choice: toolChoice };
  const choosesFreely = tools.length > 0 && toolChoice !== "none";
  return { tool_choice: choosesFreely ? "required" : { type: "function", function: { name: answerTool } } };
}

/** Removes `$schema`, because strict mode refuses unknown keywords. */
function withoutDialect({ $schema: _dialect, ...schema }: Record<string, unknown>): Record<string, unknown> {
  return schema;
}

function freeName(name: string, tools: readonly ToolSchema[]): string {
  return tools.some((tool) => tool.name === name) ? freeName(`final_${name}`, tools) : name;
}

/** Adds to the first system message, because endpoints accept only one, at the start. */
function withInstructions(messages: readonly Message[], schema: StreamOptions["schema"] = {}): readonly Message[] {
  const text = `Answer with JSON that fits this JSON schema, and with nothing else:\n${JSON.stringify(withoutDialect(schema))}`;
  const [first, ...rest] = messages;
  if (first?.role !== "system") return [{ role: "system", content: text }, ...messages];
  const before = typeof first.content === "string" ? first.content : (first.content ?? []).map(textOfPart).join("");
  return [{ ...first, content: `${before}\n\n${text}` }, ...rest];
}

function textOfPart(part: ContentPart): string {
  return part.type === "text" ? part.text : "";
}

function wireMessage(message: Message, { sendReasoning }: Settings): object {
  const { role, content, name, reasoning_content: reasoning, tool_calls: calls = [], tool_call_id: id } = message;
  const asksOnly = role === "assistant" && calls.length > 0 && content === "";
  return {
    role,
    content: Array.isArray(content) ? content.map(wirePart) : asksOnly ? null : content,
    ...(name === undefined ? {} : { name }),
    ...(sendReasoning === false || reasoning === undefined ? {} : { [sendReasoning]: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(wireCall) }),
    ...(id === undefined ? {} : { tool_call_id: id }),
    ...extraContent(message.extra),
  };
}

function wireCall({ id, name, arguments: text, extra }: ToolCall): object {
  return { id, type: "function", function: { name, arguments: text }, ...extraContent(extra) };
}

/** Signatures that some endpoints require in later requests. */
function extraContent(extra: Message["extra"]): object {
  const content = extra?.["extra_content"];
  return content === undefined ? {} : { extra_content: content };
}

function wirePart(part: ContentPart): object {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image_url", image_url: part.image };
    case "video":
      return { type: "video_url", video_url: part.video };
    default: {
      const { type } = part as { type: unknown };
      throw new TypeError(
        `a message has a content part of type ${JSON.stringify(type)}; supported are text, image and video`,
      );
    }
  }
}
