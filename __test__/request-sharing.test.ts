// Kept requests grow with what is new in them, in snapshots, dumps, forks and the recordings of tests.
import { rmSync } from "node:fs";
import { join } from "node:path";

import { journalCall, resume, runFrame, runWith } from "agent-rewind";
import type { AgentSnapshot } from "agent-rewind";
import { rewindMiddleware } from "agent-rewind/ai-sdk";
import { dumpSnapshot, forkSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { describe, expect, it } from "vitest";

import { readRecording, recordingText, writeRecording } from "../ts/recording/files.js";
import { ReadModel } from "../ts/snapshot/read-model.js";
import { checkSnapshot } from "../ts/snapshot/open.js";
import { temporaryFolder } from "./support/process.js";

const text = (seed: number, length = 1000): string =>
  `${seed} ${"lorem ipsum ".repeat(Math.ceil(length / 12))}`.slice(0, length);
const IMAGE = Buffer.from(text(7, 60_000)).toString("base64");

interface Message {
  role: string;
  content: unknown;
}

const tools = [
  { name: "search", description: text(3), input_schema: { type: "object", properties: { q: { type: "string" } } } },
];
const answer = (seed: number): Message => ({ role: "assistant", content: text(seed) });

const replying = rewindFetch(async (_input, init) => {
  const body = JSON.parse(init?.body as string) as { messages: Message[] };
  return Response.json({ id: "r", ...answer(body.messages.length) });
});

async function post(body: object): Promise<Message> {
  const headers = { "content-type": "application/json" };
  const response = await replying("http://h.test/v1", { method: "POST", headers, body: JSON.stringify(body) });
  const { role, content } = (await response.json()) as Message;
  return { role, content };
}

/** Asks a model with all messages so far. */
type Ask = (messages: Message[], turn: number) => Promise<Message>;

const journaled: Ask = (messages) =>
  journalCall({ kind: "chat", name: "m", request: { model: "m", messages } }, () => answer(messages.length));

const middleware = rewindMiddleware() as unknown as {
  wrapGenerate(call: object): Promise<{ content: { text: string }[] }>;
};

const WAYS: Record<string, Ask> = {
  "the AI SDK": async (messages) => {
    const { content } = await middleware.wrapGenerate({
      model: { specificationVersion: "v2", provider: "p", modelId: "m" },
      params: {
        prompt: messages.map((message) => ({ role: message.role, content: [{ type: "text", text: message.content }] })),
        tools,
      },
      doGenerate: () =>
        Promise.resolve({
          content: [{ type: "text", text: text(messages.length) }],
          finishReason: "stop",
          usage: {},
          warnings: [],
        }),
    });
    return { role: "assistant", content: content[0]?.text };
  },
  journalCall: journaled,
  "journalCall with a number before the messages": (messages, turn) =>
    journalCall({ kind: "chat", name: "m", request: { turn, messages, tools } }, () => answer(messages.length)),
  "journalCall with a document in each request": (messages, turn) =>
    journalCall({ kind: "ask", name: "m", request: { document: text(5, 30_000), question: turn } }, () =>
      answer(messages.length),
    ),
  "journalCall with one growing text": (messages) =>
    journalCall(
      {
        kind: "complete",
        name: "m",
        request: { prompt: messages.map(({ content }) => `- ${String(content)}\n`).join("") },
      },
      () => answer(messages.length),
    ),
  "journalCall in a frame of each turn": (messages, turn) =>
    runFrame({ id: "node", input: { turn } }, () => journaled(messages, turn)),
  "journalCall of a window of messages": (messages, turn) => journaled(messages.slice(-6), turn),
  "rewindFetch, openai": (messages) => post({ model: "gpt", tools, messages }),
  "rewindFetch, anthropic": (messages) =>
    post({
      model: "claude",
      system: text(9, 5_000),
      tools,
      // Only the last message is marked.
      messages: messages.map(({ role, content }, index) => ({
        role,
        content: [
          {
            type: "text",
            text: content,
            ...(index === messages.length - 1 ? { cache_control: { type: "ephemeral" } } : {}),
          },
        ],
      })),
    }),
  "rewindFetch, images": (messages, turn) =>
    post({
      messages: [
        ...messages,
        {
          role: "user",
          content: [
            { type: "text", text: turn },
            { type: "image", source: IMAGE },
          ],
        },
      ],
    }),
};

async function conversation(ask: Ask, turns: number): Promise<Message[]> {
  const messages: Message[] = [];
  for (let turn = 0; turn < turns; turn++) {
    messages.push({ role: "user", content: text(turn) });
    messages.push(await ask(messages, turn));
  }
  return messages;
}

const record = (ask: Ask, turns: number): Promise<AgentSnapshot> =>
  runWith(
    async () => {
      await conversation(ask, turns);
      return dumpSnapshot();
    },
    { enableSnapshot: true },
  );

/** All request documents of a snapshot. */
function requestsOf(snapshot: AgentSnapshot): (string | undefined)[] {
  const model = new ReadModel(checkSnapshot(snapshot).handle);
  const generations = model.frames.flatMap((frame) => frame.generations);
  return generations.flatMap(({ calls }) => calls.map((call) => model.requestText(call)));
}

function inRecording<T>(snapshot: AgentSnapshot, use: (bytes: number, read: () => AgentSnapshot) => T): T {
  const folder = temporaryFolder();
  const [main, timing, blobs] = [join(folder, "a.jsonl"), join(folder, "a.timing.jsonl"), join(folder, "files")];
  const written = recordingText(snapshot, "sharing", []);
  const files = [...written.blobs.values()].reduce((sum, content) => sum + content.length, 0);
  try {
    writeRecording({ main, timing, blobs }, written);
    return use(written.main.length + files, () => readRecording({ main, timing, blobs }) as AgentSnapshot);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const sizes = (snapshot: AgentSnapshot): { snapshot: number; recording: number; read: number } =>
  inRecording(snapshot, (recording, read) => ({
    snapshot: stringifySnapshot(snapshot).length,
    recording,
    read: stringifySnapshot(read()).length,
  }));

describe.each(Object.entries(WAYS))("the requests of a conversation by %s", (way, ask) => {
  it("grow with the conversation, and are whole everywhere", async () => {
    const [short, long] = [await record(ask, 50), await record(ask, 100)];
    const [less, more] = [sizes(short), sizes(long)];
    // A text that grows is whole in each line of a recording.
    const forms = way.includes("growing text") ? (["snapshot"] as const) : (["snapshot", "recording", "read"] as const);
    // The result of a frame is recorded too.
    const factor = way.includes("frame") ? 2.5 : 2;
    for (const form of forms) {
      // The messages, and all that is the same in all requests.
      const constant = 2 * less[form] - more[form];
      expect(more[form] - less[form]).toBeLessThan(factor * 50 * 2 * 1000);
      expect(constant).toBeGreaterThan(-20_000);
      expect(constant).toBeLessThan(140_000);
    }
    const requests = requestsOf(long);
    expect(requests.filter((request) => request !== undefined)).toHaveLength(100);
    for (const request of requests) JSON.parse(request as string);
    expect(requestsOf(parseSnapshot(stringifySnapshot(long)))).toEqual(requests);
    expect(requestsOf(inRecording(long, (_bytes, read) => read()))).toEqual(requests);
    expect(stringifySnapshot(parseSnapshot(stringifySnapshot(long)))).toBe(stringifySnapshot(long));
  });
});

describe("shared requests", () => {
  it("are those that were asked", async () => {
    const asked: unknown[] = [];
    const values = [
      null,
      "",
      1.5,
      true,
      [],
      {},
      [1, "2", [null]],
      { "a/b~c": text(1, 300), "": [text(2, 300)], __proto: 1 },
    ];
    const requests = values.flatMap((value, index) => [
      { value, list: [value, text(index, 400), value], [`k/${index}`]: { deep: [[{ value: text(3, 2_000) }]] } },
      { list: Array.from({ length: index + 1 }, () => value), text: text(4, 9_000 + index * 1_500) + '\u{1f600}"\\\n' },
    ]);
    const snapshot = await runWith(async () => {
      for (const request of requests) {
        asked.push({ input: request, name: "n" });
        await journalCall({ kind: "k", name: "n", request }, () => 1);
      }
      return dumpSnapshot();
    });
    for (const form of [snapshot, inRecording(snapshot, (_bytes, read) => read())]) {
      expect(requestsOf(form).map((request) => JSON.parse(request as string) as unknown)).toEqual(asked);
    }
  });

  it("stay linear in chains of resumed runs and forks", async () => {
    let snapshot = await record(journaled, 40);
    for (const turns of [60, 80, 100]) {
      const from = parseSnapshot(stringifySnapshot(snapshot));
      const next = resume(
        async () => {
          // The first dump has everything carried over, the second one nothing.
          const early = dumpSnapshot();
          expect(stringifySnapshot(early).length).toBeLessThan(1.1 * stringifySnapshot(from).length);
          await conversation(journaled, turns);
          return dumpSnapshot();
        },
        { snapshot: from },
      );
      snapshot = await next;
      expect(stringifySnapshot(snapshot).length).toBeLessThan(2 * turns * 2 * 1000);
    }
    const fork = forkSnapshot(snapshot, { at: "root/chat:m:99", output: answer(1) });
    expect(stringifySnapshot(fork).length).toBeLessThan(1.05 * stringifySnapshot(snapshot).length);
    const half = forkSnapshot(snapshot, { at: "root/chat:m:50", drop: true });
    expect(stringifySnapshot(half).length).toBeLessThan(0.6 * stringifySnapshot(snapshot).length);
  });

  it("contain nothing of what a fork dropped, also not in later dumps", async () => {
    const program = (turns: readonly string[]) => async (): Promise<void> => {
      const messages: Message[] = [];
      for (const turn of turns) {
        messages.push({ role: "user", content: `${turn} ${text(1, 400)}` });
        messages.push(await journaled(messages, 0));
      }
      await runFrame({ id: "worker", input: { about: turns.join() } }, () => post({ messages }));
    };
    const source = await runWith(async () => {
      await program(["one", "ABANDONED", "three"])();
      return dumpSnapshot();
    });
    for (const from of [source, parseSnapshot(stringifySnapshot(source))]) {
      for (const at of ["root/chat:m:1", "root/agent:worker:0"]) {
        const fork = forkSnapshot(from, { at, drop: true });
        const kept = at.includes("worker") ? 2 : 0;
        expect(stringifySnapshot(fork).split("ABANDONED").length - 1).toBeLessThanOrEqual(kept);
        if (kept > 0) continue;
        expect(JSON.stringify(fork)).not.toContain("ABANDONED");
        const next = await resume(
          async () => {
            const early = dumpSnapshot();
            await program(["one", "other"])();
            return [early, dumpSnapshot()];
          },
          { snapshot: fork },
        );
        for (const dump of next) expect(stringifySnapshot(dump)).not.toContain("ABANDONED");
      }
    }
  });

  it("explain misses and are hashed under other rules", async () => {
    const snapshot = parseSnapshot(stringifySnapshot(await record(journaled, 10)));
    const normalize = [{ id: "numbers", pattern: /^\d+/ }];
    const again = await resume(() => conversation(journaled, 10), { snapshot, normalize, onMiss: () => "error" });
    expect(again).toHaveLength(20);
    const other: Ask = (messages, turn) => journaled(messages.with(0, { role: "user", content: "other" }), turn);
    const misses: (string | undefined)[] = [];
    await resume(() => conversation(other, 1), {
      snapshot,
      onMiss: ({ explanation }) => (misses.push(explanation?.differences[0]?.pointer), "live"),
    });
    expect(misses).toEqual(["/input/messages/0/content"]);
  });
});
