import { named, RewindError, type CauseOptions, type ErrorGuard } from "../errors/base.js";

/**
 * The codes of an OpenAIModelError:
 * - `ERR_REWIND_OPENAI_CLIENT`: the package `openai` could not be loaded, or its client could not be created.
 * - `ERR_REWIND_OPENAI_REQUEST`: the endpoint refused the request, or could not be reached.
 * - `ERR_REWIND_OPENAI_STREAM`: the answer broke off, or violates the protocol.
 * - `ERR_REWIND_OPENAI_REFUSAL`: the model refused to answer.
 * - `ERR_REWIND_OPENAI_INCOMPLETE`: the answer was cut off by the token limit or by a filter.
 */
export type OpenAIModelErrorCode =
  | "ERR_REWIND_OPENAI_CLIENT"
  | "ERR_REWIND_OPENAI_REQUEST"
  | "ERR_REWIND_OPENAI_STREAM"
  | "ERR_REWIND_OPENAI_REFUSAL"
  | "ERR_REWIND_OPENAI_INCOMPLETE";

/** Details of a failure. */
export interface OpenAIFailure extends CauseOptions {
  model: string;
  /** HTTP status. */
  status?: number | undefined;
  /** The id that the endpoint assigned to the request. */
  requestId?: string | undefined;
  /** The endpoint's own code, such as "context_length_exceeded". */
  reason?: string | undefined;
  /** The part of the answer's text that arrived. */
  partialText?: string | undefined;
}

/** An OpenAI-compatible endpoint returned no complete answer. `cause` is the error of the client, if there is one. */
export class OpenAIModelError extends RewindError {
  declare readonly code: OpenAIModelErrorCode;
  readonly model: string;
  /** HTTP status. */
  readonly status: number | undefined;
  /** The id that the endpoint assigned to the request. */
  readonly requestId: string | undefined;
  /** The endpoint's own code, such as "context_length_exceeded", or the finish reason. */
  readonly reason: string | undefined;
  /** The part of the answer's text that arrived; `undefined` if no text arrived. */
  readonly partialText: string | undefined;

  constructor(message: string, code: OpenAIModelErrorCode, failure: OpenAIFailure) {
    const { model, status, requestId, reason, partialText, ...options } = failure;
    super(message, code, options);
    this.model = model;
    this.status = status;
    this.requestId = requestId;
    this.reason = reason;
    this.partialText = partialText === "" ? undefined : partialText;
  }
}

export const isOpenAIModelError: ErrorGuard<OpenAIModelError> = named(OpenAIModelError, "OpenAIModelError");
