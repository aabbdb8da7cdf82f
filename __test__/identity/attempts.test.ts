// An attempt belongs to the call that it repeats, also if equal requests run in parallel.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createEventBus,
  getContext,
  journalCall,
  replay,
  resume,
  runFrame,
  runWith,
  type AgentSnapshot,
  type TraceEvent,
} from "agent-rewind";
import { dumpSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";

import { sleep } from "../support/deferred.js";

/** Runs a program, and returns its result, its dump and its trace, both as snapshots. */
async function recorded<T>(program: () => Promise<T>): Promise<{ live: T; snapshots: AgentSnapshot[] }> {
  const events: TraceEvent[] = [];
  const eventBus = createEventBus();
  eventBus.subscribe("*", (event) => void events.push(event));
  let dump: AgentSnapshot | undefined;
  const live = await runWith(
    async () => {
      const result = await program();
      dump = parseSnapshot(stringifySnapshot(dumpSnapshot()));
      return result;
    },
    { eventBus },
  );
  return { live, snapshots: [dump as AgentSnapshot, restoreSnapshot(events)] };
}

/** Both replays give the live result, without a request. */
async function expectAsLive(program: () => Promise<unknown>, requests: () => number): Promise<AgentSnapshot> {
  const { live, snapshots } = await recorded(program);
  const made = requests();
  for (const snapshot of snapshots) {
    expect(await replay(program, { snapshot })).toEqual(live);
    expect(await resume(program, { snapshot })).toEqual(live);
  }
  expect(requests()).toBe(made);
  return snapshots[0] as AgentSnapshot;
}

/** The fate of each request, in the order of the requests: milliseconds and status. */
type Plan = readonly (readonly [ms: number, status: number])[];

const PLANS: Record<string, Plan> = {
  "the first fails once": [
    [5, 429],
    [15, 200],
    [25, 200],
    [3, 200],
  ],
  "the first fails after the second has ended": [
    [15, 429],
    [5, 200],
    [30, 200],
    [3, 200],
  ],
  "all fail once": [
    [3, 429],
    [8, 429],
    [13, 429],
    [3, 200],
    [3, 200],
    [3, 200],
  ],
  "two fail twice": [
    [3, 429],
    [8, 500],
    [20, 200],
    [3, 429],
    [3, 503],
    [3, 200],
    [3, 200],
  ],
};

describe("of a client that reports its retries", () => {
  let server: Server;
  let client: OpenAI;
  let plan: Plan = [];
  let requests = 0;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const number = requests++;
      const [ms, status] = plan[number] ?? [1, 200];
      request.resume();
      setTimeout(() => {
        response.writeHead(status, { "content-type": "application/json", "retry-after-ms": "1" });
        const message = { role: "assistant", content: `answer ${number}` };
        response.end(JSON.stringify(status === 200 ? { choices: [{ message }] } : { error: { message: "busy" } }));
      }, ms);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    // A plan fails at most three attempts of one question, whichever attempts arrive first.
    client = new OpenAI({ apiKey: "k", baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 3, fetch: rewindFetch() });
  });
  afterAll(() => server.close());

  const ask = async (): Promise<unknown> => {
    const { choices } = await client.chat.completions.create({
      model: "m",
      messages: [{ role: "user", content: "?" }],
    });
    return choices[0]?.message.content;
  };

  it.each(Object.entries(PLANS))("are kept apart in parallel: %s", async (_name, given) => {
    plan = given;
    requests = 0;
    const program = (): Promise<unknown> => Promise.all([ask(), ask(), ask()]);
    const snapshot = await expectAsLive(program, () => requests);
    // One call per question, whatever number of attempts it took.
    expect(snapshot.root.calls).toHaveLength(3);
  });
});

/**
 * A loop that reports its attempts, and gives up after the last one. `through` calls the request.
 * No question of `PLANS` fails four times, whichever attempts arrive first.
 */
function retrying(
  plan: Plan,
  attempts = 4,
): {
  ask: (through?: <T>(fn: () => Promise<T>) => Promise<T>) => Promise<string>;
  made: () => number;
} {
  let made = 0;
  const once = (attempt: number): Promise<string> =>
    journalCall({ kind: "chat", name: "m", request: { q: 1 }, attempt }, async () => {
      const number = made++;
      const [ms, status] = plan[number] ?? [1, 200];
      await sleep(ms);
      if (status !== 200) throw new Error(`${status} of request ${number}`);
      return `answer ${number}`;
    });
  return {
    made: () => made,
    async ask(through = (fn) => fn()) {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await through(() => once(attempt));
        } catch (error) {
          if (attempt === attempts - 1) return String(error);
          await sleep(2);
        }
      }
    },
  };
}

describe("of an own loop", () => {
  it.each(Object.entries(PLANS))("are kept apart in parallel: %s", async (_name, plan) => {
    const { ask, made } = retrying(plan);
    await expectAsLive(() => Promise.all([ask(), ask(), ask()]), made);
  });

  it("that gives up are kept apart", async () => {
    const plan: Plan = [
      [20, 200],
      [3, 429],
      [30, 200],
      [2, 500],
      [2, 503],
    ];
    const { ask, made } = retrying(plan, 3);
    const program = (): Promise<string[]> => Promise.all([ask(), ask(), ask()]);
    const { live, snapshots } = await recorded(program);
    expect(live).toEqual(["answer 0", "Error: 503 of request 4", "answer 2"]);
    for (const snapshot of snapshots) {
      expect(snapshot.root.calls?.map(({ attempts }) => attempts)).toEqual([undefined, 3, undefined]);
      expect(await replay(program, { snapshot })).toEqual(live);
    }
    expect(made()).toBe(5);
  });

  it("that start one after the other are kept apart, in frames too", async () => {
    const { ask, made } = retrying([
      [5, 429],
      [3, 429],
      [10, 200],
      [3, 200],
    ]);
    await expectAsLive(async () => {
      const first = ask();
      await sleep(8);
      return Promise.all([first, runFrame({ id: "inner", input: {} }, () => ask()), ask()]);
    }, made);
  });
});

/** Runs at most `limit` functions at the same time, each in the context of whatever ran before. */
function queue(limit: number): <T>(fn: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (fn) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await fn();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}

describe("through a queue, which hides who retries", () => {
  it.each(Object.entries(PLANS).flatMap(([name, plan]) => [1, 2, 3].map((limit) => ({ name, plan, limit }))))(
    "are replayed as they were: $name, $limit at a time",
    async ({ plan, limit }) => {
      const { ask, made } = retrying(plan);
      const program = (): Promise<string[]> => {
        const through = queue(limit);
        return Promise.all([ask(through), ask(through), ask(through)]);
      };
      await expectAsLive(program, made);
    },
  );

  it("belong to the only call that failed", async () => {
    let failing = true;
    const once = async (attempt: number): Promise<string> => {
      // Not in the code that retries: it does not see the call.
      await Promise.resolve();
      return journalCall({ kind: "chat", name: "m", request: {}, attempt }, () => {
        if (failing) throw new Error("429");
        return "answer";
      });
    };
    const program = async (): Promise<string> => {
      failing = true;
      return once(0).catch(() => {
        failing = false;
        return once(1);
      });
    };
    const { snapshots } = await recorded(program);
    for (const { root } of snapshots) {
      expect(root.calls).toMatchObject([{ attempts: 2, row: true }]);
    }
  });
});

it("in flight are in flight in dumps and traces", async () => {
  const events: TraceEvent[] = [];
  let dump: AgentSnapshot | undefined;
  const call = (attempt: number): Promise<unknown> =>
    journalCall({ kind: "chat", name: "m", request: {}, attempt }, async () => {
      if (attempt === 0) throw new Error("429");
      dump = dumpSnapshot();
    });
  let traced: AgentSnapshot | undefined;
  await runWith(
    async () => {
      await call(0).catch(() => {});
      const second = call(1);
      traced = restoreSnapshot(events);
      await second;
    },
    { eventBus: { emit: (event) => void events.push(event) } },
  );
  for (const snapshot of [dump, traced]) {
    const [only, ...others] = snapshot?.root.calls ?? [];
    expect(others).toEqual([]);
    expect(only).not.toHaveProperty("error");
    expect(only).not.toHaveProperty("endOrder");
  }
});

it("leave the context of the program as it was", async () => {
  const contexts = await runWith(async () => {
    const before = getContext();
    await journalCall({ kind: "chat", name: "m", request: {}, attempt: 0 }, () => 1);
    return [before, getContext()].map((context) => [context?.callId, context?.trace.spanId, context?.depth]);
  });
  expect(contexts[0]).toEqual(contexts[1]);
  expect(getContext()).toBeUndefined();
});
