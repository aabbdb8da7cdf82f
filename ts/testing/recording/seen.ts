import type { SeenCall } from "../../integration/session/index.js";
import type { StaleCall } from "../../errors/recording.js";
import { decodeParsed } from "../../values/decode.js";
import type { RecordingMode } from "./mode.js";

/** A call of a test: by an agent, a tool, a client, or `journalCall`. */
export interface TestCall {
  /** "prompt", "tool", "fetch", … */
  readonly kind: string;
  /** The name of the model, tool or host. */
  readonly name: string;
  /** The whole request of a prompt; the input of all other calls. */
  readonly input: unknown;
  /** True if the answer came from the recording. */
  readonly replayed: boolean;
  readonly output?: unknown;
  readonly error?: unknown;
}

/** The recording of a test, with its calls so far. */
export interface Recording {
  readonly mode: RecordingMode;
  /** The path of the file. It is written when the test passes. */
  readonly path: string;
  /** The calls that have ended, in the order of their starts. */
  readonly calls: readonly TestCall[];
  /** The tool calls among `calls`. */
  readonly toolCalls: readonly TestCall[];
}

/** How a test used its recording, as data for reporters and tools. */
export interface RecordingReport {
  /** The path of the recording. */
  readonly recording: string;
  readonly mode: RecordingMode;
  /** Calls that were answered from the recording. */
  readonly replayed: number;
  /** Calls that were made. */
  readonly live: number;
  /** True if the recording was written. */
  readonly written: boolean;
  /** The call that the recording does not answer, if the test failed because of it. */
  readonly stale?: StaleCall | undefined;
}

export function testCall(call: SeenCall): TestCall | undefined {
  const { kind, name, ended } = call;
  if (ended === undefined) return undefined;
  const replayed = ended.cached;
  if ("error" in ended) return { kind, name, input: inputOf(call), replayed, error: ended.error };
  // Decoded on first use: most tests only count their calls.
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
