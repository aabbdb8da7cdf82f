import { hasName, isError, messageOf, named, RewindError } from "./base.js";

/** A function that needs a run or an agent around it was called outside. */
export class ContextNotFoundError extends RewindError {
  static {
    named(this, "ContextNotFoundError");
  }

  /** The function that was called. */
  readonly apiName: string | undefined;

  constructor(apiName?: string) {
    super(
      `${apiName === undefined ? "This function" : `${apiName}()`} was called outside of a run. ` +
        "Call it inside an agent's handler or the function given to runWith; " +
        "in a callback that lost its context, go through captureContext().run().",
      "ERR_REWIND_CONTEXT_NOT_FOUND",
    );
    this.apiName = apiName;
  }
}

export function isContextNotFoundError(value: unknown): value is ContextNotFoundError {
  return hasName(value, "ContextNotFoundError");
}

/** An agent was equipped after its prompt. */
export class AfterPromptAgentError extends RewindError {
  static {
    named(this, "AfterPromptAgentError");
  }

  readonly apiName: string;

  constructor(apiName: string) {
    super(
      `${apiName}() was called after promptAgent(), which had already sent what the agent was equipped with. ` +
        `Call ${apiName}() before promptAgent(), or start a new generation with reborn().`,
      "ERR_REWIND_AFTER_PROMPT",
    );
    this.apiName = apiName;
  }
}

export function isAfterPromptAgentError(value: unknown): value is AfterPromptAgentError {
  return hasName(value, "AfterPromptAgentError");
}

/** `runWith` was called inside a run. */
export class NestedRunError extends RewindError {
  static {
    named(this, "NestedRunError");
  }

  constructor() {
    super(
      "runWith can only be used at the top level: it was called inside of a run. " +
        "Call the agent directly; it becomes a sub-agent of the one that calls it.",
      "ERR_REWIND_NESTED_RUN",
    );
  }
}

export function isNestedRunError(value: unknown): value is NestedRunError {
  return hasName(value, "NestedRunError");
}

/** The agents of a run call each other too deep. */
export class MaxDepthExceededError extends RewindError {
  static {
    named(this, "MaxDepthExceededError");
  }

  readonly maxDepth: number;
  readonly agentId: string;

  constructor(maxDepth: number, agentId: string) {
    super(
      `Agent "${agentId}" would be nested more than ${maxDepth} agents deep. ` +
        "Look for agents that call each other without end, or raise runWith's maxDepth.",
      "ERR_REWIND_MAX_DEPTH",
    );
    this.maxDepth = maxDepth;
    this.agentId = agentId;
  }
}

export function isMaxDepthExceededError(value: unknown): value is MaxDepthExceededError {
  return hasName(value, "MaxDepthExceededError");
}

/** A run or an agent was aborted. */
export class AbortError extends RewindError {
  static {
    named(this, "AbortError");
  }

  /** The reason that was given, as it was given. */
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

/** Also holds for the AbortError of the platform (a DOMException). */
export function isAbortError(value: unknown): value is Error & { readonly name: "AbortError" } {
  return hasName(value, "AbortError");
}
