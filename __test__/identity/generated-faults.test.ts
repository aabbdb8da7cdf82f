// Programs that a generator of random programs has found, made small.
import { journalCall, replay, resume, runWith, type AgentSnapshot, type TraceEvent } from "agent-rewind";
import { dumpSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { describe, expect, it } from "vitest";

import { sleep } from "../support/deferred.js";

interface Recorded {
  result: unknown;
  error: unknown;
  /** From the dump at the end, and from the trace. */
  snapshots: AgentSnapshot[];
}

async function recorded(program: () => Promise<unknown>): Promise<Recorded> {
  const events: TraceEvent[] = [];
  let dump: AgentSnapshot | undefined;
  let result: unknown;
  let error: unknown;
  await runWith(
    async () => {
      try {
        result = await program();
        dump = dumpSnapshot();
      } catch (thrown) {
        error = thrown;
        dump = dumpSnapshot({ error: thrown });
        throw thrown;
      }
    },
    { eventBus: { emit: (event) => void events.push(event) } },
  ).catch(() => {});
  return { result, error, snapshots: [dump as AgentSnapshot, restoreSnapshot(events)] };
}

const URL = "http://model.example/v1";
const POST = { method: "POST", body: '{"q":1}' };

describe("equal requests, some of which were open together", () => {
  let made = 0;
  const ask = (ms: number): Promise<number> =>
    journalCall({ kind: "chat", name: "m", request: "y" }, async () => {
      const number = ++made;
      await sleep(ms);
      return number;
    });

  it.each<[string, () => Promise<unknown>]>([
    [
      "one before a spawned one",
      async () => {
        const first = await ask(2);
        const beside = (async function spawned(): Promise<number> {
          return ask(12);
        })();
        const second = await ask(8);
        return [first, second, await beside];
      },
    ],
    [
      "a spawned one without a name, then one after the other",
      async function program() {
        const beside = (async () => ask(5))();
        const first = await ask(12);
        const second = await ask(2);
        return [first, second, await beside];
      },
    ],
    [
      "one, two together, one",
      async () => {
        const first = await ask(1);
        const both = await Promise.all([ask(4), ask(2)]);
        return [first, both, await ask(1)];
      },
    ],
  ])("%s", async (_name, program) => {
    made = 0;
    const { result, snapshots } = await recorded(program);
    for (const snapshot of snapshots) expect(await replay(program, { snapshot })).toEqual(result);
  });
});

describe("a body that fails", () => {
  let requests = 0;
  const broken = (): ReadableStream<Uint8Array> => {
    let pulls = 0;
    return new ReadableStream(
      {
        pull(controller) {
          if (pulls++ === 0) controller.enqueue(new TextEncoder().encode("piece "));
          else controller.error(new Error("connection lost"));
        },
      },
      { highWaterMark: 0 },
    );
  };
  const fetch = rewindFetch(() => {
    requests += 1;
    return Promise.resolve(new Response(requests === 1 ? broken() : `whole ${requests}`));
  });
  const read: Record<string, () => Promise<string>> = {
    text: async () => (await fetch(URL, POST)).text(),
    "for await": async () => {
      let text = "";
      for await (const chunk of (await fetch(URL, POST)).body as ReadableStream<Uint8Array>)
        text += new TextDecoder().decode(chunk);
      return text;
    },
    reader: async () => {
      const reader = ((await fetch(URL, POST)).body as ReadableStream<Uint8Array>).getReader();
      let text = "";
      for (let next = await reader.read(); !next.done; next = await reader.read())
        text += new TextDecoder().decode(next.value);
      return text;
    },
  };

  it.each(Object.keys(read))("is requested again if it ended the run: %s", async (how) => {
    requests = 0;
    const { error, snapshots } = await recorded(read[how] as () => Promise<string>);
    expect(error).toMatchObject({ message: "connection lost" });
    for (const snapshot of snapshots) {
      requests = 1;
      expect(await resume(read[how] as () => Promise<string>, { snapshot })).toBe("whole 2");
      expect(requests).toBe(2);
    }
  });

  it.each(Object.keys(read))("is replayed if the program handled it, also after a pause: %s", async (how) => {
    const program = async (): Promise<unknown> => {
      try {
        return await read[how]?.();
      } catch (error) {
        await sleep(3);
        await journalCall({ kind: "log", name: "l", request: {} }, () => 1);
        // Ends the run later, so that only the order of the calls shows that the failure was handled.
        return Promise.reject(new Error(`after ${(error as Error).message}`));
      }
    };
    requests = 0;
    const { snapshots } = await recorded(program);
    for (const snapshot of snapshots) {
      await expect(resume(program, { snapshot })).rejects.toThrow("after connection lost");
      expect(requests).toBe(1);
    }
  });
});

it("a retry that the recording does not have is executed", async () => {
  let failing = true;
  let dump: AgentSnapshot | undefined;
  const attempt = (number: number): Promise<string> =>
    journalCall({ kind: "chat", name: "m", request: {}, attempt: number }, () => {
      if (failing) throw new Error("429");
      return "answer";
    });
  const program = async (): Promise<string> => {
    try {
      return await attempt(0);
    } catch {
      // The recording ends here, between the attempts. The other branch has completed the run.
      dump = dumpSnapshot();
      failing = false;
      return attempt(1);
    }
  };
  expect(await runWith(() => Promise.race([program(), sleep(50)]))).toBe("answer");
  failing = true;
  expect(await resume(program, { snapshot: dump as AgentSnapshot })).toBe("answer");
});

it("attempts in parallel belong to the call that the same functions wait for", async () => {
  const delays = [
    [1, 2, 3],
    [3, 1, 4],
  ];
  const client = async (who: number): Promise<string> => {
    for (let attempt = 0; ; attempt += 1) {
      const fetch = rewindFetch(async () => {
        await sleep(4 * (delays[who]?.[attempt] ?? 1));
        return attempt === 2 ? new Response(`answer of ${who}`) : new Response("slow down", { status: 429 });
      });
      const send = async (init: RequestInit): Promise<Response> => {
        await Promise.resolve();
        return fetch(URL, init);
      };
      const headers: Record<string, string> = attempt === 0 ? {} : { "x-stainless-retry-count": String(attempt) };
      const response = await send({ ...POST, headers });
      const text = await response.text();
      if (response.ok || response.headers.get("x-should-retry") === "false") return `${response.status} ${text}`;
      await sleep(10);
    }
  };
  const program = (): Promise<string[]> => Promise.all([client(0), client(1)]);
  const { result, snapshots } = await recorded(program);
  expect(result).toEqual(["200 answer of 0", "200 answer of 1"]);
  for (const snapshot of snapshots) expect(await replay(program, { snapshot })).toEqual(result);
});
