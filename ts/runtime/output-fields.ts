import type { Ended } from "./call.js";

/** How events carry a call's output: as JSON with its types beside it, or the reason why not. */
export function outputFields(ended: Ended<unknown>): {
  output?: unknown;
  outputTypes?: Record<string, string>;
  tombstone?: string;
} {
  if (ended.tombstone !== undefined) return { tombstone: ended.tombstone };
  if (ended.encoded === undefined) return {};
  const { text, types } = ended.encoded;
  const output = JSON.parse(text) as unknown;
  return types === null ? { output } : { output, outputTypes: JSON.parse(types) as Record<string, string> };
}
