import {
  Tap,
  ambientContext,
  getContext,
  journaled,
  journalStreamed,
  replayStream,
  type JournaledCall,
  type RunContext,
  type StreamEnd,
  type Tapped,
} from "../integration/index.js";

type Execute = (input: unknown, options: unknown) => unknown;

/**
 * Wraps tools for `generateText`, `streamText` and agents of the AI SDK, so that their executions are journaled by name
 * and input, and replayed. Tools without `execute` are returned unchanged.
 */
export function wrapTools<Tools extends Readonly<Record<string, object>>>(tools: Tools): Tools {
  const created = getContext();
  const wrapped = Object.entries(tools).map(([name, tool]): [string, object] => {
    const { execute } = tool as { execute?: unknown };
    if (typeof execute !== "function") return [name, tool];
    const wrap = isGenerator(execute) ? wrapGenerator : wrapFunction;
    return [name, { ...tool, execute: wrap(name, execute.bind(tool) as Execute, created) }];
  });
  return Object.fromEntries(wrapped) as Tools;
}

function toolCall(name: string, input: unknown, created: RunContext | undefined): JournaledCall | undefined {
  const ambient = ambientContext("wrapTools", created);
  return ambient && { kind: "tool", name, request: input, context: ambient.context, leaf: false };
}

function wrapFunction(name: string, execute: Execute, created: RunContext | undefined): Execute {
  return (input, options) => {
    const call = toolCall(name, input, created);
    if (call === undefined) return execute(input, options);
    return journaled({ ...call, execute: () => lastOf(execute(input, options)) }).then(({ value }) => value);
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
function wrapGenerator(name: string, execute: Execute, created: RunContext | undefined): Execute {
  return (input, options) => {
    const call = toolCall(name, input, created);
    const outputs = (): AsyncIterable<unknown> => execute(input, options) as AsyncIterable<unknown>;
    return call === undefined ? outputs() : journalOutputs(call, outputs);
  };
}

async function* journalOutputs(call: JournaledCall, execute: () => AsyncIterable<unknown>): AsyncGenerator {
  const stream = await journalStreamed<ReadableStream, RecordedOutputs>({
    ...call,
    async execute(info) {
      const tap = new Tap<unknown>(streamOf(execute()), { ...info, copy: (output) => output });
      const recorded = ({ chunks, end }: Tapped<unknown>): RecordedOutputs => ({
        outputs: [...chunks],
        ...(end === undefined ? {} : { end }),
      });
      return { answer: tap.open(), recorder: tap.recorder(recorded, () => ({ stream: { chunks: tap.sizes } })) };
    },
    replay({ outputs, end }, _meta, rest) {
      const chunks = outputs.map((output) => [output, 0] as const);
      return replayStream(chunks, { ...rest, signal: undefined, end, call: `the tool "${call.name}"` });
    },
    incompleteAnswer: ({ end }) => (end === "open" ? "restart" : undefined),
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
