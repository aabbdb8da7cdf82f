// An adapter built on `agent-rewind/integration` alone records and replays everything that its client can do.

import { isReplayMissError, journalCall, replay, resume, runWith } from "agent-rewind";
import { dumpSnapshot, type AgentSnapshot } from "agent-rewind/debugger";
import { ambientContext, getContext, journaled, keptHeaders, outsideOfRuns } from "agent-rewind/integration";
import { describe, expect, it } from "vitest";

import { recorded, settle } from "../support/manual-fetch.js";
import { rewindTranslator, type Detection, type Translation, type Translator, type Word } from "./translator.js";
import { sleep } from "../support/deferred.js";

interface Script {
  /** Thrown after the words. */
  readonly fails?: Error;
  /** Leave the stream open after the words until the call is aborted. */
  readonly hangs?: boolean;
  readonly detects?: Detection;
}

/** A translator that answers with the words of the text in capitals, and counts its calls. */
function translator({ fails, hangs = false, detects = { language: "en" } }: Script = {}): Translator & {
  calls: number;
} {
  return {
    calls: 0,
    async translate(text, { signal } = {}) {
      this.calls += 1;
      if (text === "") throw new RangeError("nothing to translate");
      const words = text.split(" ");
      return {
        id: this.calls,
        words: new ReadableStream<Word>(
          {
            pull(controller) {
              const word = words.shift();
              if (word !== undefined) controller.enqueue({ text: word.toUpperCase() });
              else if (fails !== undefined) controller.error(fails);
              else if (!hangs) controller.close();
              else
                return new Promise((_, reject) => {
                  signal?.addEventListener("abort", () => reject(signal.reason as Error));
                });
            },
          },
          { highWaterMark: 0 },
        ),
      };
    },
    async detect() {
      this.calls += 1;
      return detects;
    },
  };
}

/** Reads all words, or the first `count`, and returns them with the error at the end. */
async function read({ id, words }: Translation, count = Infinity): Promise<unknown> {
  const texts: string[] = [];
  try {
    for await (const word of words) {
      texts.push(word.text);
      // The reader may modify a chunk. The recording must not notice.
      word.text = "";
      if (texts.length === count) break;
    }
    return { id, texts };
  } catch (error) {
    const { name, message } = error as Error;
    return { id, texts, failed: `${name}: ${message}` };
  }
}

/** Records a program, replays it from the dump, its JSON and its trace, and expects no call and the same result. */
async function expectExact(client: Translator & { calls: number }, program: () => Promise<unknown>): Promise<unknown> {
  const { value, snapshots } = await recorded(program);
  const { calls } = client;
  expect(snapshots).toHaveLength(3);
  for (const snapshot of snapshots) expect(await replay(program, { snapshot })).toEqual(value);
  expect(client.calls).toBe(calls);
  return value;
}

const kindsOf = (snapshot: AgentSnapshot | undefined): unknown => snapshot?.root.calls?.map(({ kind }) => kind);

describe("records and replays exactly", () => {
  it("a stream that is read to its end", async () => {
    const client = translator();
    const rewound = rewindTranslator(client);
    const program = async (): Promise<unknown> => [
      await read(await rewound.translate("good day")),
      await read(await rewound.translate("good day")),
    ];
    expect(await expectExact(client, program)).toEqual([
      { id: 1, texts: ["GOOD", "DAY"] },
      { id: 2, texts: ["GOOD", "DAY"] },
    ]);
  });

  it("streams that are read at the same time, with recorded times", async () => {
    const client = translator();
    const rewound = rewindTranslator(client, "recorded");
    const program = async (): Promise<unknown> => {
      const answers = await Promise.all(["one two", "three"].map((text) => rewound.translate(text)));
      return Promise.all(answers.map((answer) => read(answer)));
    };
    expect(await expectExact(client, program)).toEqual([
      { id: 1, texts: ["ONE", "TWO"] },
      { id: 2, texts: ["THREE"] },
    ]);
  });

  it("a stream that is left early", async () => {
    const client = translator();
    const rewound = rewindTranslator(client);
    const program = (count?: number) => async (): Promise<unknown> => read(await rewound.translate("a b c"), count);
    expect(await expectExact(client, program(2))).toEqual({ id: 1, texts: ["A", "B"] });
    const { snapshots } = await recorded(program(2));
    const [snapshot] = snapshots as [AgentSnapshot];
    expect(await replay(program(), { snapshot })).toMatchObject({
      texts: ["A", "B"],
      failed: expect.stringMatching(/^StreamCutError: The recorded answer to translate ends here/) as string,
    });
  });

  it("a stream that fails", async () => {
    const client = translator({ fails: new SyntaxError("unknown word") });
    const program = async (): Promise<unknown> => read(await rewindTranslator(client).translate("a b"));
    const expected = { id: 1, texts: ["A", "B"], failed: "SyntaxError: unknown word" };
    expect(await expectExact(client, program)).toEqual(expected);
  });

  it("a call that fails", async () => {
    const client = translator();
    const program = async (): Promise<unknown> =>
      rewindTranslator(client)
        .translate("")
        .catch((error: Error) => `${error.name}: ${error.message}`);
    expect(await expectExact(client, program)).toBe("RangeError: nothing to translate");
  });

  it.each([
    ["without a reason", undefined, "AbortError: This operation was aborted"],
    ["with a reason", new TypeError("enough"), "TypeError: enough"],
  ])("a stream that is aborted %s", async (_, reason, failed) => {
    const client = translator({ hangs: true });
    const program = async (): Promise<unknown> => {
      const aborter = new AbortController();
      const answer = await rewindTranslator(client).translate("a", { signal: aborter.signal });
      const reading = read(answer);
      await settle();
      aborter.abort(reason);
      return reading;
    };
    expect(await expectExact(client, program)).toEqual({ id: 1, texts: ["A"], failed });
  });

  it("an answer that is not streamed, with its data", async () => {
    const client = translator();
    const program = (): Promise<Detection> => rewindTranslator(client).detect("hello");
    expect(await expectExact(client, program)).toEqual({ language: "en" });
    const { snapshots } = await recorded(program);
    expect(snapshots[0]?.root.calls?.[0]).toMatchObject({ meta: { finishReason: "found" } });
  });
});

it("refuses a call that a strict replay has no answer for, and names the difference", async () => {
  const client = translator();
  const program = (text: string) => async (): Promise<unknown> => read(await rewindTranslator(client).translate(text));
  const { snapshots } = await recorded(program("good day"));
  const miss: unknown = await replay(program("good night"), { snapshot: snapshots[0] as AgentSnapshot }).catch(
    (error: unknown) => error,
  );
  expect(isReplayMissError(miss) && miss.explanation?.text).toContain(
    '/input/text: a text (recorded "good day", now "good night")',
  );
  expect(client.calls).toBe(1);
});

it("starts a stream again whose end was not recorded, in a resumed run only", async () => {
  const client = translator();
  const rewound = rewindTranslator(client);
  let snapshot: AgentSnapshot | undefined;
  const program = async (): Promise<unknown> => {
    const { id, words } = await rewound.translate("a b");
    const reader = words.getReader();
    const texts = [(await reader.read()).value?.text];
    snapshot ??= dumpSnapshot();
    for (let next = await reader.read(); !next.done; next = await reader.read()) texts.push(next.value.text);
    return { id, texts };
  };
  expect(await runWith(program)).toEqual({ id: 1, texts: ["A", "B"] });
  const open = snapshot as AgentSnapshot;
  expect(await resume(program, { snapshot: open })).toEqual({ id: 2, texts: ["A", "B"] });
  await expect(replay(program, { snapshot: open })).rejects.toSatisfy(isReplayMissError);
  expect(client.calls).toBe(2);
});

it("retries an answer that describes a failure, like a thrown error", async () => {
  const client = translator({ detects: { problem: "busy" } });
  const program = async (): Promise<unknown> => {
    const found = await rewindTranslator(client).detect("hello");
    if ("problem" in found) throw new Error("no language");
    return found;
  };
  let snapshot: AgentSnapshot | undefined;
  const failing = async (): Promise<unknown> => program().finally(() => (snapshot = dumpSnapshot()));
  await expect(runWith(failing)).rejects.toThrow("no language");
  const fixed = translator();
  const again = rewindTranslator(fixed);
  expect(await resume(() => again.detect("hello"), { snapshot: snapshot as AgentSnapshot })).toEqual({
    language: "en",
  });
  expect(fixed.calls).toBe(1);
});

it("calls the client directly outside of runs, after the run, and inside the call of another client", async () => {
  const client = translator();
  expect(await rewindTranslator(client).detect("a")).toEqual({ language: "en" });
  const createdInside = await runWith(async () => rewindTranslator(client));
  expect(await createdInside.detect("b")).toEqual({ language: "en" });
  const nested = async (): Promise<Detection> =>
    journalCall({ kind: "step", name: "outer", request: {} }, () => createdInside.detect("c"));
  const { snapshots } = await recorded(nested);
  expect(kindsOf(snapshots[0])).toEqual(["step", "translation"]);
  const other = { kind: "other", name: "client", request: {}, execute: () => createdInside.detect("c") };
  const { snapshots: ofClient } = await recorded(() => journaled(other).then(({ value }) => value));
  expect(kindsOf(ofClient[0])).toEqual(["other"]);
});

it("finds the run of a client that has lost its async context", async () => {
  const program = async (): Promise<unknown> => {
    const rewound = rewindTranslator(translator());
    return outsideOfRuns(() => rewound.detect("a"));
  };
  const { value, snapshots } = await recorded(program);
  expect(value).toEqual({ language: "en" });
  for (const snapshot of snapshots) expect(kindsOf(snapshot)).toEqual(["translation"]);
});

it("reports the mode and the signal of the run", async () => {
  const seen = async (): Promise<unknown> => {
    const ambient = ambientContext("test", undefined);
    expect(ambient?.context).toBe(getContext());
    expect(ambient?.signal).toBe(getContext()?.signal);
    return ambient?.mode;
  };
  expect(ambientContext("test", undefined)).toBeUndefined();
  const { value, snapshot } = await runWith(async () => ({ value: await seen(), snapshot: dumpSnapshot() }));
  expect([value, await resume(seen, { snapshot }), await replay(seen, { snapshot })]).toEqual([
    "live",
    "resume",
    "replay",
  ]);
});

it("treats earlier failures as handled when the adapter says so before it waits", async () => {
  let snapshot: AgentSnapshot | undefined;
  const program = (announces: boolean) => async (): Promise<void> => {
    const failed = journalCall({ kind: "step", name: "fails", request: {} }, () => {
      throw new Error("no");
    });
    await failed.catch(() => {});
    if (announces) ambientContext("test", undefined)?.markPendingFailuresHandled();
    await sleep(1);
    snapshot = dumpSnapshot();
  };
  for (const announces of [false, true]) {
    await runWith(program(announces));
    const [call] = snapshot?.root.calls ?? [];
    expect(call).toMatchObject({ error: { message: "no" } });
    expect(call?.handled === true).toBe(announces);
  }
});

it("rejects invalid calls and options with the name of the field", async () => {
  const call = { kind: "", name: "n", request: {}, execute: () => 1 };
  const rejections = runWith(async () => [await journaled(call).catch((error: unknown) => error)]);
  expect(await rejections).toEqual([new TypeError("journalCall: call.kind must be a non-empty string")]);
  await expect(journaled({ ...call, kind: "k" })).rejects.toThrow("outside");
  expect(() => keptHeaders("rewindTranslator", { requestHeaders: ["no name"] })).toThrow(
    'rewindTranslator: options.requestHeaders[0] must be a header name, received "no name"',
  );
});
