import { RecordingStaleError, type ReplayMissError } from "../../errors/index.js";

export interface StaleTest {
  readonly test: string;
  /** The path of its recording. */
  readonly path: string;
  /** The command that accepts the change. */
  readonly accept: string;
}

/** The error of a test that made a call which its recording does not answer. */
export function staleError(miss: ReplayMissError, { test, path, accept }: StaleTest): RecordingStaleError {
  const { kind, calledName: name, callId, explanation } = miss;
  const { cause, lines = [], differences = [] } = explanation ?? {};
  const [first] = differences;
  const why =
    cause === undefined || first === undefined
      ? miss.message.replace(/ Record the run again, or use mode "resume".*$/s, "")
      : `${cause} in ${callInWords(kind, name)}.`;
  const { pointer, recorded: before, actual: after } = first ?? {};
  return new RecordingStaleError(test, path, why, lines, { kind, name, callId, pointer, before, after, accept });
}

function callInWords(kind: string, name: string): string {
  if (kind === "fetch") return `the request to ${name}`;
  if (kind === "prompt") return `the prompt to "${name}"`;
  return kind === "tool" ? `the call of the tool "${name}"` : `the ${kind} call "${name}"`;
}

/** Replaces the stack of an error by the place in the program that made the call. */
export function placeAt<E extends Error>(error: E, stack: readonly string[]): E {
  const [place] = stack;
  // A stack without a place in the program says less than none.
  error.stack = `${error.name}: ${error.message}${place === undefined ? "" : `\n${place}`}`;
  return error;
}
