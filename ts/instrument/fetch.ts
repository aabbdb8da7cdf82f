// The global fetch. What a program assigns later, such as the fetch of a tracer or a mock, calls this one.

import { rewindFetch, type RewindFetchOptions } from "../fetch/index.js";

/** Wraps the global fetch. Returns a function that undoes it. */
export function instrumentFetch(options: RewindFetchOptions): () => void {
  const original = globalThis.fetch;
  const wrapped = rewindFetch(original, options);
  globalThis.fetch = wrapped;
  return () => {
    if (globalThis.fetch === wrapped) globalThis.fetch = original;
  };
}
