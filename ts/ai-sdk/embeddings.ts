import { received } from "../errors/received.js";
import { getContext } from "../integration/index.js";
import { modelCall } from "./journaled-model.js";
import { journaledResult } from "./middleware.js";
import type { CallOptions, EmbeddingModelLike } from "./types.js";

/**
 * Wraps an embedding model of the AI SDK 5, 6 or 7, so that its calls are journaled and replayed. Does not change `model`.
 *
 * @throws TypeError if `model` is no such model, for example the name of one.
 */
export function rewindEmbeddingModel<Model extends EmbeddingModelLike>(model: Model): Model {
  if (typeof (model as Partial<EmbeddingModelLike> | undefined)?.doEmbed !== "function") {
    const example = 'openai.embeddingModel("…")';
    throw new TypeError(
      `rewindEmbeddingModel: model must be an embedding model, such as ${example}, received ${received(model)}`,
    );
  }
  const created = getContext();
  const doEmbed = async (params: CallOptions): Promise<object> => {
    const execute = (): PromiseLike<object> => model.doEmbed(params as never);
    const call = modelCall("embed", model, params, created);
    return call === undefined ? execute() : journaledResult(call, execute);
  };
  return new Proxy(model, {
    get(target, key) {
      if (key === "doEmbed") return doEmbed;
      // Methods with private members need the model itself as `this`, not the proxy.
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
