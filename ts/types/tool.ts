import type { StandardSchemaLike } from "./schema.js";

/** What a tool's handler is told beside its input. */
export interface ToolContext {
  /** Aborts when the agent that called the tool is to stop. */
  readonly signal: AbortSignal;
  /** Path of this call, such as `root/agent:writer:0/tool:search:1`. */
  readonly callId: string;
}

/** A layer around a tool's handler; the journal is the innermost layer, so it sees the final input. */
export interface ToolMiddleware {
  readonly name: string;
  readonly handler: (
    context: { readonly toolName: string; readonly input: unknown },
    next: (input?: unknown) => Promise<unknown>,
  ) => Promise<unknown>;
  /** Settings of the layer; part of the request's hash in recordings of `@rejelly/core`. */
  readonly config?: unknown;
}

/** Something that a model can call. */
export interface Tool<Input = any, Output = unknown> {
  readonly name: string;
  readonly description: string;
  /** Schema of the input: of zod 3.25+, zod 4, or another library that speaks Standard Schema. */
  readonly parameters: StandardSchemaLike<Input>;
  /** JSON schema of the input, for a schema whose library gives none; by default what the library gives. */
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  readonly handler: (input: Input, context: ToolContext) => Output | Promise<Output>;
  readonly middlewares?: readonly ToolMiddleware[];
}
