import type { EffectOptions } from "./effect.js";
import type { StandardSchemaLike } from "./schema.js";

/** The second argument of a tool's handler. */
export interface ToolContext {
  /** Aborts when the agent that called the tool must stop. */
  readonly signal: AbortSignal;
  /** Path of this call, such as `root/agent:writer:0/tool:search:1`. */
  readonly callId: string;
  /**
   * Id of this call, 64 hex digits. It stays the same if the process is killed during the call and a resumed run
   * executes it again, so a service that it is passed to can recognize the repetition.
   */
  readonly idempotencyKey: string;
}

/** A layer around a tool's handler. The journal is the innermost layer, so it records the final input. */
export interface ToolMiddleware {
  readonly name: string;
  readonly handler: (
    context: { readonly toolName: string; readonly input: unknown },
    next: (input?: unknown) => Promise<unknown>,
  ) => Promise<unknown>;
  /** Settings of the layer. They are part of the request's hash in recordings of `@rejelly/core`. */
  readonly config?: unknown;
}

/** A function that a model can call. */
export interface Tool<Input = any, Output = unknown> extends EffectOptions<Input, Output> {
  readonly name: string;
  readonly description: string;
  /** Schema of the input, made with zod 3.25+, zod 4, or another library that implements Standard Schema. */
  readonly parameters: StandardSchemaLike<Input>;
  /** JSON schema of the input. Default: the one that the schema's library provides. */
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  readonly handler: (input: Input, context: ToolContext) => Output | Promise<Output>;
  readonly middlewares?: readonly ToolMiddleware[];
}
