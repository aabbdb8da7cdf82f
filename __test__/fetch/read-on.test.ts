// A stream that the program had left is replayed up to there. A program that reads further gets the rest by a new request,
// if the new answer begins with what was replayed. A strict replay has no answer.
import { isReplayMissError, isStreamCutError, resume } from "agent-rewind";
import { rewindFetch } from "agent-rewind/fetch";
import { wrapTools } from "agent-rewind/tools";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { chatStream, modelServer } from "../support/model-server.js";
import { record, replayed } from "../support/recorded.js";

const LINES = Array.from({ length: 20 }, (_, index) => `line ${index}\n`);

/** Reads items until there are `count`. Without a count, reads all. */
async function take<T>(source: AsyncIterable<T>, count = Infinity): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) if (items.push(item) === count) break;
  return items;
}

async function* bytesOf(response: Response): AsyncGenerator<string> {
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) yield Buffer.from(chunk).toString();
}

/** A program that reads a stream, and then asks for something else. */
interface Program {
  readonly left: () => Promise<unknown>;
  readonly whole: () => Promise<unknown>;
  readonly asked: () => number;
}

/** Records a program that leaves the stream; `expected` is what it gets if it reads all. */
async function expectContinued({ left, whole, asked }: Program, expected: unknown): Promise<void> {
  const { value, snapshot } = await record(left);
  const before = asked();
  expect(await replayed(left, snapshot)).toEqual(value);
  expect(await resume(left, { snapshot })).toEqual(value);
  await expect(replayed(whole, snapshot)).rejects.toSatisfy(isReplayMissError);
  expect(asked()).toBe(before);
  expect(await resume(whole, { snapshot })).toEqual(expected);
  expect(asked()).toBe(before + 1);
}

describe("a stream that the program had left is continued", () => {
  it("for a download, however the new answer is cut into chunks", async () => {
    let cut = 7;
    await using server = await modelServer(() => ({ body: LINES.join(""), cut: cut++ }));
    const fetch = rewindFetch();
    const read = async (count?: number) => (await take(bytesOf(await fetch(server.url)), count)).join("");
    const program = { left: () => read(3), whole: () => read(), asked: () => server.requests.length };
    await expectContinued(program, LINES.join(""));
  });

  it("for a body that is read at once", async () => {
    await using server = await modelServer(() => ({ body: LINES.join(""), cut: 50 }));
    const fetch = rewindFetch();
    const left = async () => take(bytesOf(await fetch(server.url)), 2);
    const whole = async () => (await fetch(server.url)).text();
    await expectContinued({ left, whole, asked: () => server.requests.length }, LINES.join(""));
  });

  it("for a streamed completion of a model that answers the same again", async () => {
    await using server = await modelServer(() => ({ body: chatStream("one two three"), cut: 300 }));
    const client = new OpenAI({ apiKey: "k", baseURL: server.url, maxRetries: 0, fetch: rewindFetch() });
    const read = async (count?: number) => {
      const stream = await client.chat.completions.create({ model: "m", stream: true, messages: [] });
      const chunks = await take(stream, count);
      return chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    };
    const program = { left: () => read(6), whole: () => read(), asked: () => server.requests.length };
    await expectContinued(program, "one two three");
  });

  it("for the outputs of a tool", async () => {
    let executed = 0;
    const { steps } = wrapTools({
      steps: {
        inputSchema: z.object({}),
        async *execute(_input: object) {
          executed += 1;
          yield { step: 1, at: new Date(0) };
          yield { step: 2 };
          yield { step: 3 };
        },
      },
    });
    const program = {
      left: () => take(steps.execute({}), 2),
      whole: () => take(steps.execute({})),
      asked: () => executed,
    };
    await expectContinued(program, [{ step: 1, at: new Date(0) }, { step: 2 }, { step: 3 }]);
  });
});

it("is not sent again for a client that reads ahead of the program", async () => {
  await using server = await modelServer(() => ({ body: LINES.join(""), cut: 20 }));
  const fetch = rewindFetch();
  const read = async (count: number) => {
    const { body } = await fetch(server.url);
    // A buffer that holds more than was recorded.
    const buffered = body?.pipeThrough(new TransformStream({}, undefined, { highWaterMark: count === 3 ? 2 : 100 }));
    const chunks = await take(buffered as unknown as AsyncIterable<Uint8Array>, 3);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => void setImmediate(resolve));
    return Buffer.concat(chunks).toString();
  };
  const { value, snapshot } = await record(() => read(3));
  for (const run of [replayed, (program: () => Promise<string>) => resume(program, { snapshot })])
    expect(await run(() => read(10), snapshot)).toBe(value);
  expect(server.requests).toHaveLength(1);
});

it("fails if the new answer does not begin with the replayed part, so that two answers are never mixed", async () => {
  await using server = await modelServer((_request, index) => ({
    body: chatStream(`${index} is the answer`),
    cut: 300,
  }));
  const fetch = rewindFetch();
  const read = async (count?: number) => take(bytesOf(await fetch(server.url)), count);
  const { snapshot } = await record(() => read(8));
  await expect(resume(() => read(), { snapshot })).rejects.toSatisfy(isStreamCutError);
  expect(server.requests).toHaveLength(2);
});
