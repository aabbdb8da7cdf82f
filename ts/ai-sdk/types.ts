// The parts of the AI SDK's types that are equal in its versions 5, 6 and 7, so that no version must be installed.

/** The options of a model call. */
export interface CallOptions {
  readonly abortSignal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
}

export interface ModelName {
  readonly provider: string;
  readonly modelId: string;
}

export interface StreamPart {
  readonly type: string;
}

export interface StreamResult<Part extends StreamPart = StreamPart> {
  readonly stream: ReadableStream<Part>;
}

/** A middleware for `wrapLanguageModel`. */
export interface RewindMiddleware {
  readonly specificationVersion: "v3";
  wrapGenerate<Result extends object>(options: {
    doGenerate: () => PromiseLike<Result>;
    params: CallOptions;
    model: ModelName;
  }): Promise<Result>;
  wrapStream<Result extends StreamResult<never> | StreamResult>(options: {
    doStream: () => PromiseLike<Result>;
    params: CallOptions;
    model: ModelName;
  }): Promise<Result>;
}

export interface EmbeddingModelLike extends ModelName {
  readonly doEmbed: (options: never) => PromiseLike<object>;
}
