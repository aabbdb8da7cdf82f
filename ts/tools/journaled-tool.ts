import {
  Tap,
  ambientContext,
  getContext,
  incompleteStream,
  journaled,
  journalStreamed,
  replayStream,
  type JournaledCall,
  type StreamEnd,
  type Tapped,
} from "../integration/index.js";
import type { CallMeta } from "../types/snapshot.js";

/** What a framework passes to a tool. */
export interface ToolInput {
  readonly input: unknown;
  /** The id of the model's tool call. Some frameworks do not pass it. */
  readonly toolCallId: string | undefined;
}

type Method = (...args: unknown[]) => unknown;

/** Returns a function that journals the calls of `execute`. */
export function journaledTool(
  name: string,
  execute: Method,
  { read, isSuspended }: { read(args: unknown[]): ToolInput; isSuspended?: (args: unknown[]) => () => boolean },
): Method {
  const created = getContext();
  const outputsOf = isGenerator(execute);
  return (...args) => {
    const ambient = ambientContext("wrapTools", created);
    if (ambient === undefined) return execute(...args);
    const { input, toolCallId } = read(args);
    const call = { kind: "tool", name, request: input, context: ambient.context, leaf: false };
    const meta = toolCallId === undefined ? {} : { toolCallId };
    if (outputsOf) return journalOutputs(call, () => execute(...args) as AsyncIterable<unknown>, meta);
    let live: { readonly output: unknown } | undefined;
    const recorded = journaled({
      ...call,
      async execute() {
        const suspended = isSuspended?.(args);
        live = { output: await lastOf(execute(...args)) };
        return suspended?.() === true ? new SuspendedTool() : live.output;
      },
      meta: () => meta,
    });
    return recorded.then(({ value }) => (live === undefined ? value : live.output));
  };
}

/** Not recorded, so a replay executes the tool again, and it suspends the run again. */
class SuspendedTool {
  readonly isSuspended = true;
}

/** If a plain function returns a generator, only its last output is journaled. */
async function lastOf(output: unknown): Promise<unknown> {
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) return output;
  let last: unknown;
  for await (const value of output as AsyncIterable<unknown>) last = value;
  return last;
}

interface RecordedOutputs {
  outputs: unknown[];
  end?: StreamEnd;
}

/** For tools that yield several outputs. The last one is the result. */
async function* journalOutputs(
  call: JournaledCall,
  execute: () => AsyncIterable<unknown>,
  meta: CallMeta,
): AsyncGenerator {
  const stream = await journalStreamed<ReadableStream, RecordedOutputs>({
    ...call,
    async execute(info) {
      const tap = new Tap<unknown>(streamOf(execute()), { ...info, copy: (output) => output });
      const recorded = ({ chunks, end }: Tapped<unknown>): RecordedOutputs => ({
        outputs: [...chunks],
        ...(end === undefined ? {} : { end }),
      });
      const answer = tap.open();
      return { answer, recorder: tap.recorder(recorded, () => ({ ...meta, stream: { chunks: tap.sizes } })) };
    },
    replay({ outputs, end }, _meta, rest) {
      const chunks = outputs.map((output) => [output, 0] as const);
      return replayStream(chunks, { ...rest, signal: undefined, end, call: `the tool "${call.name}"` });
    },
    incompleteAnswer: ({ end }) => incompleteStream(end),
  });
  yield* stream as AsyncIterable<unknown>;
}

function streamOf(values: AsyncIterable<unknown>): ReadableStream<unknown> {
  const iterator = values[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

function isGenerator(execute: object): boolean {
  return Object.prototype.toString.call(execute) === "[object AsyncGeneratorFunction]";
}
