import { hasName, isError, messageOf, named, RewindError, type ErrorGuard } from "./base.js";

/** A function that needs a run or an agent was called outside of one. */
export class ContextNotFoundError extends RewindError {
  /** The function that was called. */
  readonly apiName: string | undefined;

  constructor(apiName?: string) {
    super(
      `${apiName === undefined ? "This function" : `${apiName}()`} was called outside of a run. ` +
        "Call it inside an agent's handler or in the function that is passed to runWith(). " +
        "In a callback that lost its context, use captureContext().run().",
      "ERR_REWIND_CONTEXT_NOT_FOUND",
    );
    this.apiName = apiName;
  }
}

export const isContextNotFoundError: ErrorGuard<ContextNotFoundError> = named(
  ContextNotFoundError,
  "ContextNotFoundError",
);

/** A function that equips an agent was called after the agent's prompt. */
export class AfterPromptAgentError extends RewindError {
  /** The function that was called. */
  readonly apiName: string;

  constructor(apiName: string) {
    super(
      `${apiName}() was called after promptAgent(), which has already sent the agent's equipment to the model. ` +
        `Call ${apiName}() before promptAgent(), or start a new generation with reborn().`,
      "ERR_REWIND_AFTER_PROMPT",
    );
    this.apiName = apiName;
  }
}

export const isAfterPromptAgentError: ErrorGuard<AfterPromptAgentError> = named(
  AfterPromptAgentError,
  "AfterPromptAgentError",
);

/** `runWith` was called inside a run. */
export class NestedRunError extends RewindError {
  constructor() {
    super(
      "runWith can only be used at the top level, but it was called inside a run. " +
        "Call the agent directly: it then runs as a sub-agent of its caller.",
      "ERR_REWIND_NESTED_RUN",
    );
  }
}

export const isNestedRunError: ErrorGuard<NestedRunError> = named(NestedRunError, "NestedRunError");

/** The agents of a run call each other too deeply. */
export class MaxDepthExceededError extends RewindError {
  readonly maxDepth: number;
  readonly agentId: string;

  constructor(maxDepth: number, agentId: string) {
    super(
      `Agent "${agentId}" would be nested more than ${maxDepth} agents deep. ` +
        "Look for agents that call each other endlessly, or raise maxDepth of runWith().",
      "ERR_REWIND_MAX_DEPTH",
    );
    this.maxDepth = maxDepth;
    this.agentId = agentId;
  }
}

export const isMaxDepthExceededError: ErrorGuard<MaxDepthExceededError> = named(
  MaxDepthExceededError,
  "MaxDepthExceededError",
);

/** A run or an agent was aborted. */
export class AbortError extends RewindError {
  /** The reason of the abort, unchanged. */
  readonly reason: unknown;

  constructor(reason?: unknown) {
    super(
      reason === undefined ? "Operation aborted" : `Operation aborted: ${messageOf(reason)}`,
      "ERR_REWIND_ABORTED",
      isError(reason) ? { cause: reason } : {},
    );
    this.reason = reason;
  }
}

named(AbortError, "AbortError");

/** Also accepts the AbortError of the platform (a DOMException). */
export function isAbortError(value: unknown): value is Error & { readonly name: "AbortError" } {
  return hasName(value, "AbortError");
}
