import { journaledTool, type ToolInput } from "./journaled-tool.js";

/**
 * Wraps the tools of an agent, so that their executions are journaled by name and input, and replayed: tools of the AI
 * SDK, Mastra, OpenAI Agents, LangChain and LlamaIndex. Returns copies with the prototype and all other members of the
 * tools.
 *
 * Tools that the provider or the client of the user executes (tools of the AI SDK without `execute`, hosted tools of
 * OpenAI) are returned unchanged. Leave out agents as tools and tools that return a `Command` of LangGraph: what they ask
 * is recorded without a wrapper.
 *
 * @param tools `{ name: tool }`, or a list of tools that know their names.
 * @throws TypeError if a tool is of another kind, with its name and what was expected.
 *
 * @example
 * ```ts
 * import { wrapTools } from "agent-rewind/tools";
 * import { tool } from "ai";
 * import { z } from "zod";
 *
 * export const tools = wrapTools({
 *   clock: tool({ inputSchema: z.object({}), execute: async () => new Date().toISOString() }),
 * });
 * ```
 */
export function wrapTools<Tools extends Readonly<Record<string, object>> | readonly object[]>(tools: Tools): Tools {
  if (Array.isArray(tools)) {
    return tools.map((tool: unknown, index) => wrapped(tool, undefined, `tools[${index}]`)) as unknown as Tools;
  }
  if (typeof tools !== "object" || tools === null)
    throw new TypeError("wrapTools: tools must be an object such as { name: tool }, or a list of tools");
  const entries = Object.entries(tools).map(([key, tool]) => [key, wrapped(tool, key, `the tool "${key}"`)] as const);
  return Object.fromEntries(entries) as Tools;
}

type Members = Readonly<Record<string, unknown>>;
type Method = (...args: unknown[]) => unknown;

function wrapped(tool: unknown, key: string | undefined, place: string): object {
  const members = (typeof tool === "object" && tool !== null ? tool : {}) as Members;
  const kind = kindOf(members, key);
  if (kind === "not executed here") return members;
  if (kind === undefined) throw new TypeError(`wrapTools: ${place} ${EXPECTED}, received ${shown(tool)}. ${ADVICE}`);
  const { method, name } = kind;
  if (typeof name !== "string" || name === "")
    throw new TypeError(`wrapTools: ${place} does not contain its name: pass the tools as { name: tool }`);
  const execute = (members[method] as Method).bind(members);
  return copyWith(members, { ...kind.own, [method]: journaledTool(name, execute, kind) });
}

const EXPECTED =
  "must be a tool with execute() (AI SDK, Mastra), of type function with invoke() (OpenAI Agents), with _call() (LangChain) or with call() and metadata (LlamaIndex)";
const ADVICE = "Use journalCall in the function that it executes, and leave it out here.";

function shown(tool: unknown): string {
  if (typeof tool !== "object" || tool === null) return tool === null ? "null" : typeof tool;
  const names = Object.keys(tool).slice(0, 10);
  return names.length === 0 ? "an object without members" : `an object with ${names.join(", ")}`;
}

interface Kind {
  /** The method by which the framework executes the tool. */
  readonly method: string;
  readonly name: unknown;
  /** Reads the arguments of the method. */
  read(args: unknown[]): ToolInput;
  /** Watches whether an execution suspends the run. Its answer is then not its result. */
  readonly isSuspended?: (args: unknown[]) => () => boolean;
  /** Members that the prototype reads from private fields. */
  readonly own?: Members;
}

function kindOf(tool: Members, key: string | undefined): Kind | "not executed here" | undefined {
  const isMethod = (name: string): boolean => typeof tool[name] === "function";
  if (tool["type"] === "function" && isMethod("invoke")) return { method: "invoke", name: tool["name"], read: openai };
  if (isMethod("_call") && isMethod("invoke")) return { method: "_call", name: tool["name"], read: langchain };
  if (isMethod("execute"))
    return { method: "execute", name: key ?? tool["id"], read: executed, isSuspended: watchSuspension };
  const { metadata } = tool;
  if (isMethod("call") && isObject(metadata))
    return { method: "call", name: metadata["name"], read: llamaindex, own: { metadata } };
  const { type } = tool;
  const isProvided = type === "provider" || type === "provider-defined" || type === "hosted_tool";
  // A tool of the AI SDK has no name, unlike the description of a tool by an MCP server.
  return isProvided || ("inputSchema" in tool && !("name" in tool)) ? "not executed here" : undefined;
}

const member = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);
const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

function openai([, text, details]: unknown[]): ToolInput {
  const toolCallId = textOf(member(member(details, "toolCall"), "callId"));
  try {
    return { input: JSON.parse(text as string), toolCallId };
  } catch {
    return { input: text, toolCallId };
  }
}

function langchain([input, , config]: unknown[]): ToolInput {
  return { input, toolCallId: textOf(member(member(config, "toolCall"), "id")) };
}

function llamaindex([input]: unknown[]): ToolInput {
  return { input, toolCallId: undefined };
}

/** AI SDK and Mastra. A tool of Mastra that suspended the run is executed again with the answer of the user. */
function executed([input, options]: unknown[]): ToolInput {
  const agent = member(options, "agent");
  const resumeData =
    member(options, "resumeData") ?? member(agent, "resumeData") ?? member(member(options, "workflow"), "resumeData");
  return {
    input: resumeData == null ? input : { input, resumeData },
    toolCallId: textOf(member(options, "toolCallId")) ?? textOf(member(agent, "toolCallId")),
  };
}

/** Mastra: notes whether a tool calls `suspend`, in the context itself, which Mastra creates for each execution. */
function watchSuspension([, context]: unknown[]): () => boolean {
  let suspended = false;
  for (const from of [context, member(context, "agent"), member(context, "workflow")]) {
    const suspend = member(from, "suspend");
    if (typeof suspend !== "function") continue;
    Reflect.set(from as object, "suspend", (...args: unknown[]): unknown => {
      suspended = true;
      return (suspend as Method).apply(from, args);
    });
  }
  return () => suspended;
}

function copyWith(object: object, members: Members): object {
  const descriptors: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(object);
  for (const [name, value] of Object.entries(members))
    descriptors[name] = { value, writable: true, enumerable: true, configurable: true };
  return Object.create(Object.getPrototypeOf(object) as object | null, descriptors) as object;
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null;
}
