// Modules that a program loads. A line is added to known ones, which hands over what must be wrapped.

import * as nodeModule from "node:module";

import { rewindClients, type ClientClass } from "../mcp/index.js";
import { wrapTools } from "../tools/index.js";

interface Loaded {
  readonly format?: string | null | undefined;
  readonly source?: string | ArrayBuffer | Uint8Array | null | undefined;
}

type Load = (url: string, context: object, next: (url: string, context: object) => Loaded) => Loaded;
type RegisterHooks = (hooks: { load: Load }) => { deregister(): void };

interface Target {
  readonly path: RegExp;
  /** Text that the source must contain. Other versions are not wrapped. */
  readonly probe: RegExp;
  /** The code to add. */
  readonly tail: string;
  readonly kind: "mcp" | "tools";
}

const HOOK = "globalThis[Symbol.for('agent-rewind/modules@1')]";

const TARGETS: readonly Target[] = [
  {
    path: /\/@modelcontextprotocol\/sdk\/dist\/(?:esm|cjs)\/client\/index\.js$/,
    probe: /\bclass Client\b/,
    tail: `${HOOK}?.client(Client);`,
    kind: "mcp",
  },
  {
    path: /\/@ai-sdk\/provider-utils\/dist\/index\.m?js$/,
    probe: /^(?:async )?function\*? executeTool\(/m,
    tail: `executeTool = ${HOOK}?.executeTool(executeTool) ?? executeTool;`,
    kind: "tools",
  },
  {
    path: /\/@openai\/agents-core\/dist\/tool\.m?js$/,
    probe: /^(?:export )?function tool\(/m,
    tail: `tool = ${HOOK}?.openai(tool) ?? tool;`,
    kind: "tools",
  },
  {
    path: /\/@langchain\/core\/dist\/tools\/index\.c?js$/,
    probe: /\bStructuredTool\b/,
    tail: `${HOOK}?.langchain(StructuredTool);`,
    kind: "tools",
  },
];

/** Names of modules that were loaded in a version that is not known, and so are not recorded. */
export const unknownModules: Set<string> = new Set();

/** Wraps modules that are loaded from now on. Returns a function that undoes it. */
export function instrumentModules(kinds: { readonly mcp: boolean; readonly tools: boolean }): () => void {
  (globalThis as Record<symbol, unknown>)[Symbol.for("agent-rewind/modules@1")] = HANDLERS;
  const { registerHooks } = nodeModule as unknown as { readonly registerHooks: RegisterHooks };
  const hooks = registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const target = TARGETS.find(({ path, kind }) => kinds[kind] && path.test(url));
      if (target === undefined || loaded.source == null) return loaded;
      const source = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
      if (!target.probe.test(source)) {
        unknownModules.add(url.replace(/^.*\/node_modules\//, ""));
        return loaded;
      }
      return { ...loaded, source: `${source}\n;${target.tail}\n` };
    },
  });
  return () => hooks.deregister();
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

interface Execution {
  readonly execute?: Method;
  readonly options?: { readonly toolCallId?: string; readonly messages?: readonly Message[] };
}

interface Message {
  readonly content: string | readonly { readonly toolCallId?: string; readonly toolName?: string }[];
}

const HANDLERS = {
  client: (Client: ClientClass): void => rewindClients(Client),
  /** The AI SDK. The name of the tool is in the message of the model that calls it. */
  executeTool:
    (original: (execution: Execution) => unknown) =>
    (execution: Execution): unknown => {
      const { execute, options } = execution;
      if (typeof execute !== "function") return original(execution);
      const parts = (options?.messages ?? []).flatMap(({ content }) => (typeof content === "string" ? [] : content));
      const call = parts.findLast(({ toolCallId, toolName }) => toolName && toolCallId === options?.toolCallId);
      const name = call?.toolName ?? (execute.name || "tool");
      return original({ ...execution, ...wrapTools({ [name]: { execute } })[name] });
    },
  langchain({ prototype }: { readonly prototype: { call: Method } }): void {
    const { call } = prototype;
    const wrapped = new WeakMap<object, object>();
    prototype.call = function (...args) {
      const tool = this as object;
      const known = wrapped.get(tool) ?? wrapTools({ tool }).tool;
      wrapped.set(tool, known);
      return call.apply(known, args);
    };
  },
  openai:
    (original: (options: object) => object) =>
    (options: object): object =>
      wrapTools([original(options)])[0] as object,
};
