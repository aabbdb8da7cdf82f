export { rewindEmbeddingModel } from "./embeddings.js";
export { rewindMiddleware, type RewindMiddlewareOptions } from "./middleware.js";
export { wrapTools } from "../tools/index.js";
export type {
  CallOptions,
  EmbeddingModelLike,
  ModelName,
  RewindMiddleware,
  StreamPart,
  StreamResult,
} from "./types.js";
