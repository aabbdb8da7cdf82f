// Runs whose function returns a stream, which is read after `runWith` has resolved.
import { Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";

import { isReplayMissError, journalCall, runFrame, runWith, type RunEnd } from "agent-rewind";
import { dumpSnapshot, type AgentSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";

import { turn } from "../support/deferred.js";
import { factsOf } from "../support/frames.js";
import { openRun, readInside, replays } from "../support/open-run.js";

/** The calls that were executed. */
let made: string[] = [];
beforeEach(() => void (made = []));

/** Answers with three chunks that contain the number of the request; `fail` breaks the body after two. */
let fail: Error | undefined;
const fetch = rewindFetch(async (input) => {
  const path = new URL(input as string).pathname;
  made.push(path);
  const chunks = ["a", "b", "c"].map((name) => `${path} ${name}${made.length} `);
  return new Response(
    new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          await turn();
          const chunk = chunks.shift();
          if (chunks.length === 0 && fail !== undefined) controller.error(fail);
          else if (chunk === undefined) controller.close();
          else controller.enqueue(Buffer.from(chunk));
        },
      },
      { highWaterMark: 0 },
    ),
  );
});
const bodyOf = async (path: string): Promise<ReadableStream<Uint8Array>> =>
  (await fetch(`http://host${path}`)).body as ReadableStream<Uint8Array>;
const step = (name: string): Promise<string> =>
  journalCall({ kind: "step", name, request: {} }, async () => {
    made.push(name);
    await turn();
    return `${name} ${made.length} `;
  });

async function* steps(...names: string[]): AsyncGenerator<string> {
  for (const name of names) yield await step(name);
}
/** Does nothing until it is read, and then what it does is in the context of its reader. */
const lazyStream = (): ReadableStream<string> => {
  const values = steps("one", "two");
  return new ReadableStream<string>(
    {
      async pull(controller) {
        const { done, value } = await values.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
};
class Answers {
  private stopped = false;
  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (const name of ["one", "two"]) if (!this.stopped) yield step(name);
  }
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}
const bytes = async (stream: AsyncIterable<Uint8Array>): Promise<string> => Buffer.concat(await all(stream)).toString();
const strings = async (parts: AsyncIterable<string>): Promise<string> => (await all(parts)).join("");
async function byReader(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += Buffer.from(part.value).toString();
  }
  return text;
}

interface Kind<T> {
  start: () => T | Promise<T>;
  read: (value: T) => Promise<string>;
  made: string[];
}
const kind = <T>(start: Kind<T>["start"], read: Kind<T>["read"], ...executed: string[]): Kind<unknown> =>
  ({ start, read, made: executed }) as Kind<unknown>;

const kinds: Record<string, Kind<unknown>> = {
  "a recorded body, iterated": kind(() => bodyOf("/x"), bytes, "/x"),
  "a recorded body with a reader": kind(() => bodyOf("/x"), byReader, "/x"),
  "a recorded body, piped through a decoder": kind(
    () => bodyOf("/x"),
    (stream) => strings(stream.pipeThrough(new TextDecoderStream() as never)),
    "/x",
  ),
  "a recorded body, piped to a sink": kind(
    () => bodyOf("/x"),
    async (stream) => {
      let text = "";
      await stream.pipeTo(new WritableStream({ write: (part) => void (text += Buffer.from(part).toString()) }));
      return text;
    },
    "/x",
  ),
  "both branches of a recorded body": kind(
    () => bodyOf("/x"),
    async (stream) => (await Promise.all(stream.tee().map(bytes))).join("|"),
    "/x",
  ),
  "one branch of a recorded body": kind(
    () => bodyOf("/x"),
    (stream) => bytes(stream.tee()[1]),
    "/x",
  ),
  "a recorded response": kind(
    () => fetch("http://host/x"),
    (response) => response.text(),
    "/x",
  ),
  "a clone of a recorded response": kind(
    () => fetch("http://host/x"),
    (response) => response.clone().text(),
    "/x",
  ),
  "a new response over a body": kind(
    async () => new Response(await bodyOf("/x")),
    (response) => response.text(),
    "/x",
  ),
  "a new response over a lazy stream": kind(
    () => new Response(lazyStream().pipeThrough(new TextEncoderStream())),
    (response) => response.text(),
    "one",
    "two",
  ),
  "a lazy stream": kind(lazyStream, strings, "one", "two"),
  "a lazy stream, read by Node": kind(lazyStream, (stream) => textOf(Readable.fromWeb(stream as never)), "one", "two"),
  "an async generator": kind(() => steps("one", "two", "one"), strings, "one", "two", "one"),
  "an async generator, read by next": kind(
    () => steps("one", "two"),
    async (values) => {
      let text = "";
      for (let part = await values.next(); part.done !== true; part = await values.next()) text += part.value;
      return text;
    },
    "one",
    "two",
  ),
  "a generator over two bodies": kind(
    async function* () {
      for (const path of ["/x", "/y"]) yield* await bodyOf(path);
    },
    bytes,
    "/x",
    "/y",
  ),
  "an async iterable": kind(() => new Answers(), strings, "one", "two"),
  "a stream of Node": kind(
    () => Readable.from(steps("one", "two")),
    (stream) => textOf(stream),
    "one",
    "two",
  ),
  "a stream of Node with events": kind(
    () => Readable.from(steps("one", "two")),
    (stream) =>
      new Promise((resolve) => {
        let text = "";
        stream.on("data", (part) => void (text += String(part)));
        stream.on("close", () => resolve(text));
      }),
    "one",
    "two",
  ),
  "an object with a stream": kind(
    async () => ({ id: await step("id"), stream: lazyStream() }),
    async ({ id, stream }) => id + (await strings(stream)),
    "id",
    "one",
    "two",
  ),
  "two streams": kind(
    () => [steps("one"), steps("two")],
    async (both) => (await Promise.all(both.map(strings))).join("|"),
    "one",
    "two",
  ),
  "a stream from a frame": kind(
    () => runFrame({ id: "f", input: {} }, async () => ({ stream: await bodyOf("/x") })),
    ({ stream }) => bytes(stream),
    "/x",
  ),
};

describe.each(Object.entries(kinds))("a run that returns %s", (_name, { start, read, made: executed }) => {
  it("ends when that was read, and is replayed", async () => {
    let given: unknown;
    const keep = async (): Promise<unknown> => (given = await start());
    const run = await openRun(keep);
    expect(run.value).toBe(given);
    await turn();
    expect([run.ends, run.reports]).toEqual([[], []]);
    expect(run.events.at(-1)?.type).not.toBe("runWith:end");
    const value = await read(run.value);
    await turn();
    expect(run.ends).toEqual([{}]);
    expect(run.reports).toMatchObject([{ missed: 0 }]);
    expect(run.events.at(-1)).toMatchObject({ type: "runWith:end", success: true });
    expect(made).toEqual(executed);
    const dump = run.dump();
    expect(dump.root.state.status).toBe("completed");
    expect(dump.root.calls?.every(({ endOrder }) => endOrder !== undefined) ?? true).toBe(true);
    expect(run.restored().warnings ?? []).toEqual([]);
    expect(factsOf(run.restored().root)).toMatchObject(factsOf(dump.root));

    for (const { read: same, again } of await replays(run, start, read)) {
      expect(same).toBe(value);
      await turn();
      expect(again.ends).toEqual([{}]);
      expect(again.reports).toMatchObject([{ live: 0, missed: 0 }]);
      expect(await readInside(again.dump(), start, read)).toBe(value);
    }
    expect(await readInside(dump, start, read)).toBe(value);
    expect(made).toEqual(executed);
  });
});

describe("a returned stream", () => {
  it("keeps its class, and its methods are the old ones after the end", async () => {
    const { value } = await openRun(() => bodyOf("/x"));
    expect(Object.keys(value)).toEqual([]);
    expect(value).toBeInstanceOf(ReadableStream);
    expect(value.locked).toBe(false);
    await bytes(value);
    expect(value.locked).toBe(false);
    expect(await value.getReader().read()).toEqual({ done: true, value: undefined });
    const answers = (await openRun(() => new Answers())).value;
    expect(answers).toBeInstanceOf(Answers);
    expect(await strings(answers)).toContain("two");
    // The run has ended, and so it is iterated outside of it.
    await expect(strings(answers)).rejects.toMatchObject({ name: "ContextNotFoundError" });
  });

  it("does not keep a run open if its source has ended, or if it is read inside", async () => {
    const finished = async (): Promise<unknown> => {
      const [read, left] = (await bodyOf("/x")).tee();
      await bytes(read);
      return left;
    };
    const locked = async (): Promise<unknown> => {
      const stream = await bodyOf("/x");
      stream.getReader();
      return stream;
    };
    const used = async (): Promise<Response> => {
      const response = await fetch("http://host/x");
      await response.text();
      return response;
    };
    for (const start of [finished, locked, used, () => new Response(null), () => [1, { deep: [steps("one")] }]])
      expect((await openRun<unknown>(start)).ends).toEqual([{}]);
  });

  it("is in flight in a dump before its end", async () => {
    let dump: AgentSnapshot | undefined;
    const start = async function* (): AsyncGenerator<string> {
      yield step("one");
      const body = (await bodyOf("/x")).getReader();
      yield Buffer.from((await body.read()).value ?? []).toString();
      dump ??= dumpSnapshot();
      for (let part = await body.read(); !part.done; part = await body.read()) yield Buffer.from(part.value).toString();
    };
    const run = await openRun(start);
    const value = await strings(run.value);
    expect(dump?.root.state.status).toBe("running");
    expect(Object.values(dump?.root.journal.other?.["fetch"] ?? {})).toMatchObject([{ output: { end: "open" } }]);
    expect(made).toEqual(["one", "/x"]);
    // The calls that had ended are replayed. The body is requested again.
    const again = await openRun(start, { snapshot: dump as AgentSnapshot });
    expect(await strings(again.value)).toBe(value.replaceAll("2", "3"));
    expect(made).toEqual(["one", "/x", "/x"]);
  });

  describe("that the program leaves", () => {
    const first = { stream: "/x a1 ", steps: "one 1 " };
    const ways: Record<string, [() => unknown, (value: never) => Promise<string>, string]> = {
      "by cancelling the reader": [
        () => bodyOf("/x"),
        async (stream: ReadableStream<Uint8Array>) => {
          const reader = stream.getReader();
          const text = Buffer.from((await reader.read()).value ?? []).toString();
          await reader.cancel();
          return text;
        },
        first.stream,
      ],
      "by leaving the loop": [
        () => bodyOf("/x"),
        async (stream: ReadableStream<Uint8Array>) => {
          for await (const part of stream) return Buffer.from(part).toString();
          return "";
        },
        first.stream,
      ],
      "by cancelling a branch": [
        () => bodyOf("/x"),
        async (stream: ReadableStream<Uint8Array>) => {
          const [branch, other] = stream.tee();
          const reader = branch.getReader();
          const text = Buffer.from((await reader.read()).value ?? []).toString();
          await Promise.all([reader.cancel(), other.cancel()]);
          return text;
        },
        first.stream,
      ],
      "by a sink that fails": [
        () => bodyOf("/x"),
        async (stream: ReadableStream<Uint8Array>) => {
          let text = "";
          const sink = new WritableStream<Uint8Array>({
            write(part) {
              text = Buffer.from(part).toString();
              throw new Error("full");
            },
          });
          await expect(stream.pipeTo(sink)).rejects.toThrow("full");
          return text;
        },
        first.stream,
      ],
      "by leaving a generator": [
        () => steps("one", "two"),
        async (values: AsyncGenerator<string>) => {
          for await (const value of values) return value;
          return "";
        },
        first.steps,
      ],
      "by cancelling a response that nobody has read": [
        () => fetch("http://host/x"),
        async (response: Response) => {
          await response.body?.cancel();
          return "";
        },
        "",
      ],
    };

    it.each(Object.entries(ways))("%s ends the run", async (_name, [start, leave, value]) => {
      const run = await openRun(start);
      expect(await leave(run.value as never)).toBe(value);
      await turn();
      expect(run.ends).toEqual([{}]);
      expect(run.dump().root.calls?.filter(({ endOrder }) => endOrder === undefined)).toEqual([]);
      const executed = [...made];
      for (const { read, again } of await replays(run, start, leave as (given: unknown) => Promise<string>)) {
        expect(read).toBe(value);
        await turn();
        expect(again.reports).toMatchObject([{ live: 0, missed: 0 }]);
      }
      expect(made).toEqual(executed);
    });
  });

  it("ends the run with its error", async () => {
    const start = (): Promise<ReadableStream<Uint8Array>> => bodyOf("/x");
    const broken = new TypeError("terminated");
    const decoded = (stream: ReadableStream<Uint8Array>): Promise<string> =>
      strings(stream.pipeThrough(new TextDecoderStream() as never));
    const ofBranch = (stream: ReadableStream<Uint8Array>): Promise<string> => bytes(stream.tee()[0]);
    onTestFinished(() => void (fail = undefined));
    fail = broken;
    for (const read of [bytes, byReader, decoded, ofBranch]) {
      const run = await openRun(start);
      await expect(read(run.value)).rejects.toThrow("terminated");
      await turn();
      expect(run.ends).toEqual([{ error: broken }]);
      expect(run.events.at(-1)).toMatchObject({
        type: "runWith:end",
        success: false,
        error: { message: "terminated" },
      });
    }
  });

  it("is executed again from the call that it failed with", async () => {
    let busy = true;
    const start = async function* (): AsyncGenerator<string> {
      yield await step("one");
      yield await journalCall({ kind: "step", name: "busy", request: {} }, () => {
        made.push("busy");
        if (busy) throw new Error("busy");
        return "done";
      });
    };
    const run = await openRun(start);
    await expect(strings(run.value)).rejects.toThrow("busy");
    await turn();
    expect(run.ends).toEqual([{ error: new Error("busy") }]);
    busy = false;
    for (const snapshot of [run.dump(), run.restored()]) {
      made = [];
      const again = await openRun(start, { snapshot });
      expect(await strings(again.value)).toBe("one 1 done");
      expect(made).toEqual(["busy"]);
    }
  });

  it("fails with a miss, and the run with it", async () => {
    const start =
      (...names: string[]) =>
      () =>
        steps(...names);
    const run = await openRun(start("one"));
    await strings(run.value);
    await turn();
    const again = await openRun(start("one", "other"), { snapshot: run.dump(), mode: "replay" });
    await expect(strings(again.value)).rejects.toSatisfy(isReplayMissError);
    await turn();
    expect(again.reports).toMatchObject([{ replayed: 1, missed: 1 }]);
    expect(again.ends).toEqual([{ error: expect.toSatisfy(isReplayMissError) as unknown }]);
    expect(again.events.at(-1)).toMatchObject({ type: "runWith:end", success: false });
  });

  it("fails the run with a miss that the stream catches", async () => {
    const start = (name: string) =>
      async function* (): AsyncGenerator<string> {
        yield await step(name).catch(() => "caught");
      };
    const run = await openRun(start("one"));
    await strings(run.value);
    await turn();
    const again = await openRun(start("other"), { snapshot: run.dump(), mode: "replay" });
    expect(await strings(again.value)).toBe("caught");
    await turn();
    expect(again.ends).toEqual([{ error: expect.toSatisfy(isReplayMissError) as unknown }]);
  });

  it("of Node ends the run when it is destroyed", async () => {
    const run = await openRun(() => Readable.from(steps("one", "two", "three", "four", "five")));
    for await (const value of run.value) {
      expect(value).toBe("one 1 ");
      break;
    }
    await turn();
    expect(run.ends).toEqual([{}]);
  });

  it("is aborted by the signal of the run", async () => {
    const abort = new AbortController();
    const start = async function* (): AsyncGenerator<string> {
      yield step("one");
      yield step("two");
    };
    const run = await openRun(start, { signal: abort.signal });
    await run.value.next();
    abort.abort();
    await expect(run.value.next()).rejects.toMatchObject({ name: "AbortError" });
    await turn();
    expect(run.ends).toMatchObject([{ error: { name: "AbortError" } }]);
    expect(made).toEqual(["one"]);
  });
});

describe("onEnd", () => {
  it("is called at the end of every run, in its context", async () => {
    const ends: [RunEnd, string][] = [];
    const onEnd = (end: RunEnd): void => void ends.push([end, dumpSnapshot().root.state.status]);
    expect(await runWith(() => step("one"), { onEnd })).toBe("one 1 ");
    const error = new RangeError("broken");
    await expect(runWith(() => Promise.reject(error), { onEnd })).rejects.toBe(error);
    expect(ends).toEqual([
      [{}, "completed"],
      [{ error }, "failed"],
    ]);
  });
});
