import type { SeenCall } from "../integration/index.js";
import { decodeParsed } from "../values/decode.js";
import type { RecordingMode } from "./mode.js";

/** A call that a test made: by an agent, a tool, a client, or `journalCall`. */
export interface TestCall {
  /** "prompt", "tool", "fetch", … */
  readonly kind: string;
  /** Name of the model, tool or host. */
  readonly name: string;
  /** What was asked: for a prompt the whole request, for all others the input. */
  readonly input: unknown;
  /** Whether the answer came from the recording. */
  readonly replayed: boolean;
  readonly output?: unknown;
  readonly error?: unknown;
}

/** What a test asked so far, and what became of it. */
export interface Recording {
  readonly mode: RecordingMode;
  /** The file, which is there once the test has passed. */
  readonly path: string;
  /** Those that have ended, in the order in which they were started. */
  readonly calls: readonly TestCall[];
  /** Those of tools. */
  readonly toolCalls: readonly TestCall[];
}

export function testCall(call: SeenCall): TestCall | undefined {
  const { kind, name, ended } = call;
  if (ended === undefined) return undefined;
  const replayed = ended.cached;
  if ("error" in ended) return { kind, name, input: inputOf(call), replayed, error: ended.error };
  // Most of a test's calls are only counted.
  return {
    kind,
    name,
    get input() {
      return inputOf(call);
    },
    replayed,
    get output() {
      return ended.output();
    },
  };
}

function inputOf({ kind, request }: SeenCall): unknown {
  const document = JSON.parse(request()) as { input?: unknown; types?: Record<string, unknown> };
  if (kind === "prompt" && !("input" in document)) return document;
  return document.types === undefined ? document.input : decodeParsed(document.input, document.types);
}
