import { NormalizeError } from "../errors/index.js";
import { calling, native, type NativeSnapshotHandle } from "../native.js";
import type { Normalizer } from "../values/normalize.js";
import { ReadModel, type ListedFrame } from "./read-model.js";

/** The hashes of all calls and of the inputs of all frames, in the order of the read model. */
interface Hashes {
  readonly calls: string[];
  readonly inputs: (string | null)[];
}

/**
 * Computes the hashes of a snapshot under other rules, from the recorded requests.
 * @throws NormalizeError if a request was not recorded.
 */
export function hashesUnder(normalizer: Normalizer | undefined, snapshot: NativeSnapshotHandle): Hashes {
  const model = new ReadModel(snapshot);
  const hash = (document: string, kind: string): string =>
    calling(() => native.contentHash(normalizer?.document(document, kind) ?? document));
  const calls = model.frames.flatMap(({ callId: frame, generations }) =>
    generations.flatMap((generation) =>
      generation.calls.map((call) => {
        if (call.callId === undefined) throw notKept(frame, "a journal row without a call");
        // A fork kept only its start, for the count of equal requests. Under other rules, nothing is equal to it.
        if (call.dropped === true) return call.contentHash;
        const request = model.requestText(call);
        if (request === undefined) throw notKept(frame, `the request of ${call.callId}`);
        return hash(request, call.kind);
      }),
    ),
  );
  const inputs = model.frames.map((frame) => {
    const document = inputOf(frame);
    return document === undefined ? null : hash(document, "agent");
  });
  return { calls, inputs };
}

/** The document of a frame's input. `undefined` if its props were not recorded: replay then finds it by its callId. */
function inputOf({ inputHash, generations: [start] }: ListedFrame): string | undefined {
  if (inputHash === undefined || start?.id !== 0 || start.props === undefined) return undefined;
  const types = start.propsTypes === undefined ? "" : `,"types":${JSON.stringify(start.propsTypes)}`;
  return `{"input":${JSON.stringify(start.props)}${types}}`;
}

function notKept(frame: string, what: string): NormalizeError {
  return new NormalizeError(
    `the snapshot was recorded under other rules of options.normalize, and its hashes cannot be recomputed: ${what} ` +
      `was not kept in ${frame}. Pass the rules that it was recorded under, or record the run again.`,
  );
}
