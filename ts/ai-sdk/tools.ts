import {
  Tap,
  ambientContext,
  getContext,
  journalCall,
  journalStreamed,
  recorderOf,
  replayStream,
  type RunContext,
  type JournaledCall,
  type StreamEnd,
  type Tapped,
} from "../integration/index.js";

type Execute = (input: unknown, options: unknown) => unknown;

/**
 * Wraps tools for `generateText`, `streamText` and agents of the AI SDK, so that their executions are journaled by name
 * and input, and replayed. Tools without `execute` are returned unchanged.
 */
export function wrapTools<Tools extends Readonly<Record<string, object>>>(tools: Tools): Tools {
  const made = getContext();
  const wrapped = Object.entries(tools).map(([name, tool]): [string, object] => {
    const { execute } = tool as { execute?: unknown };
    if (typeof execute !== "function") return [name, tool];
    const wrap = isGenerator(execute) ? wrapGenerator : wrapFunction;
    return [name, { ...tool, execute: wrap(name, execute.bind(tool) as Execute, made) }];
  });
  return Object.fromEntries(wrapped) as Tools;
}

function toolCall(name: string, input: unknown, made: RunContext | undefined): JournaledCall | undefined {
  const context = ambientContext(made, "wrapTools");
  // A tool call inside a journaled call is part of its answer.
  return context === undefined || context.inCall ? undefined : { kind: "tool", name, request: input, context };
}

function wrapFunction(name: string, execute: Execute, made: RunContext | undefined): Execute {
  return (input, options) => {
    const call = toolCall(name, input, made);
    return call === undefined ? execute(input, options) : journalCall(call, () => lastOf(execute(input, options)));
  };
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
function wrapGenerator(name: string, execute: Execute, made: RunContext | undefined): Execute {
  return (input, options) => {
    const call = toolCall(name, input, made);
    const make = (): AsyncIterable<unknown> => execute(input, options) as AsyncIterable<unknown>;
    return call === undefined ? make() : outputsOf(call, make);
  };
}

async function* outputsOf(call: JournaledCall, make: () => AsyncIterable<unknown>): AsyncGenerator {
  const stream = await journalStreamed<ReadableStream, RecordedOutputs>(
    call,
    async ({ journaled, signal }) => {
      const startedAt = performance.now();
      const copy = (output: unknown): unknown => output;
      const tap = new Tap<unknown>(streamOf(make()), { startedAt, signal, journaled, copy, size: () => 1 });
      const recorded = ({ chunks, end }: Tapped<unknown>): RecordedOutputs => ({
        outputs: [...chunks],
        ...(end === undefined ? {} : { end }),
      });
      const meta = () => ({ stream: { chunks: tap.sizes } });
      return { answer: tap.open(), recorder: recorderOf(tap, recorded, meta) };
    },
    {
      answer({ outputs, end }, _meta, more) {
        const pieces = outputs.map((output) => [output, 0] as const);
        return replayStream(pieces, { signal: undefined, end, call: `the tool "${call.name}"`, ...more });
      },
      incompleteAnswer: ({ end }) => (end === "open" ? "restart" : undefined),
    },
  );
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
