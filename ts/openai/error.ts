import { named, RewindError, type CauseOptions, type ErrorGuard } from "../errors/base.js";

/**
 * What went wrong:
 * - `ERR_REWIND_OPENAI_CLIENT`: the package `openai` could not be loaded, or its client not be made.
 * - `ERR_REWIND_OPENAI_REQUEST`: the endpoint refused the request, or could not be reached.
 * - `ERR_REWIND_OPENAI_STREAM`: the answer broke off, or is not what the protocol says.
 * - `ERR_REWIND_OPENAI_REFUSAL`: the model refused to answer.
 * - `ERR_REWIND_OPENAI_INCOMPLETE`: the answer was cut short, by its length or by a filter.
 */
export type OpenAIModelErrorCode =
  | "ERR_REWIND_OPENAI_CLIENT"
  | "ERR_REWIND_OPENAI_REQUEST"
  | "ERR_REWIND_OPENAI_STREAM"
  | "ERR_REWIND_OPENAI_REFUSAL"
  | "ERR_REWIND_OPENAI_INCOMPLETE";

/** What is known of a failure. */
export interface OpenAIFailure extends CauseOptions {
  model: string;
  /** HTTP status. */
  status?: number | undefined;
  /** The endpoint's id of the request. */
  requestId?: string | undefined;
  /** The endpoint's own code, such as "context_length_exceeded". */
  reason?: string | undefined;
  /** What had come of the answer's text. */
  partialText?: string | undefined;
}

/** A model at an OpenAI-compatible endpoint gave no whole answer. `cause` is the client's error, if it had one. */
export class OpenAIModelError extends RewindError {
  declare readonly code: OpenAIModelErrorCode;
  readonly model: string;
  /** HTTP status. */
  readonly status: number | undefined;
  /** The endpoint's id of the request. */
  readonly requestId: string | undefined;
  /** The endpoint's own code, such as "context_length_exceeded", or the reason of the finish. */
  readonly reason: string | undefined;
  /** What had come of the answer's text; `undefined` for nothing. */
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
