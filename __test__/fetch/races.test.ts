// Answers that are handed out before their bodies are at an end, among others that end meanwhile.
import {
  callTool,
  captureContext,
  journalCall,
  replay,
  resume,
  runFrame,
  runWith,
  type CallInfo,
  withCustomSpan,
  type TraceEvent,
} from "agent-rewind";
import {
  dumpSnapshot,
  parseSnapshot,
  restoreSnapshot,
  stringifySnapshot,
  type AgentSnapshot,
} from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { describe, expect, it } from "vitest";
import { z } from "zod";

/** A fetch whose heads and bodies come when the test says so: a chunk is the path and how often it was asked for. */
function manual(): {
  fetch: typeof globalThis.fetch;
  asked: string[];
  head(path: string): void;
  end(path: string): void;
} {
  const heads = new Map<string, () => void>();
  const bodies = new Map<string, ReadableStreamDefaultController<Uint8Array>>();
  const asked: string[] = [];
  return {
    asked,
    async fetch(input, init) {
      const path = new URL(input as string).pathname;
      asked.push(path);
      const { signal } = init ?? {};
      await new Promise<void>((resolve, reject) => {
        heads.set(path, resolve);
        signal?.addEventListener("abort", () => reject(signal.reason as Error));
      });
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void bodies.set(path, controller) });
      bodies.get(path)?.enqueue(Buffer.from(`${path} ${asked.length}`));
      return new Response(body);
    },
    head: (path) => heads.get(path)?.(),
    end: (path) => bodies.get(path)?.close(),
  };
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => void setImmediate(resolve));
};

/** What a run gave, and its recordings: its dump, that through JSON, and what its trace restores. */
async function recorded<T>(
  program: () => Promise<T>,
  direct: () => Promise<void> = async () => {},
  snapshot?: AgentSnapshot,
): Promise<{ value: T; snapshots: AgentSnapshot[]; events: TraceEvent[] }> {
  const events: TraceEvent[] = [];
  let dump: AgentSnapshot | undefined;
  const run = runWith(
    async () => {
      const value = await program();
      dump = dumpSnapshot();
      return value;
    },
    { eventBus: { emit: (event) => void events.push(event) }, ...(snapshot === undefined ? {} : { snapshot }) },
  );
  await direct();
  const value = await run;
  const whole = dump as AgentSnapshot;
  return { value, snapshots: [whole, parseSnapshot(stringifySnapshot(whole)), restoreSnapshot(events)], events };
}

describe("of two requests, the one whose head comes first", () => {
  const fast = "http://host/fast";
  const slow = "http://host/slow";

  it("wins on replay too, where the other is cancelled before the winner's body has ended", async () => {
    const source = manual();
    const fetch = rewindFetch(source.fetch);
    const program = async (): Promise<string> => {
      const asked = [fetch(slow), fetch(fast)];
      const winner = await Promise.race(asked);
      const others = asked.map(async (each) => (await each) === winner || (await each).body?.cancel());
      await Promise.all(others);
      return winner.text();
    };
    const { value, snapshots } = await recorded(program, async () => {
      source.head("/fast");
      await settle();
      source.head("/slow");
      await settle();
      source.end("/fast");
    });
    expect(value).toBe("/fast 2");
    for (const snapshot of snapshots) expect(await replay(program, { snapshot })).toBe(value);
    expect(source.asked).toHaveLength(2);
  });

  it("wins on replay too, where the other is aborted meanwhile", async () => {
    const source = manual();
    const fetch = rewindFetch(source.fetch);
    const program = async (): Promise<string> => {
      const controller = new AbortController();
      const loser = fetch(slow, { signal: controller.signal });
      const winner = await Promise.race([loser, fetch(fast)]);
      controller.abort();
      await loser.catch(() => {});
      return winner.text();
    };
    const { value, snapshots } = await recorded(program, async () => {
      source.head("/fast");
      await settle();
      source.end("/fast");
    });
    expect(value).toBe("/fast 2");
    for (const snapshot of snapshots) expect(await replay(program, { snapshot })).toBe(value);
    expect(source.asked).toHaveLength(2);
  });

  it("and the bodies keep their places among each other and other calls", async () => {
    const source = manual();
    const fetch = rewindFetch(source.fetch);
    const ends = new Map<string, () => void>();
    const program = async (): Promise<string[]> => {
      const order: string[] = [];
      const read = async (url: string): Promise<void> => {
        const response = await fetch(url);
        order.push(`head of ${url}`);
        await response.text();
        order.push(`body of ${url}`);
      };
      const call = async (name: string): Promise<void> => {
        await journalCall({ kind: "step", name, request: {} }, () => new Promise<void>((end) => ends.set(name, end)));
        order.push(name);
      };
      await Promise.all([read(slow), read(fast), call("a"), call("b")]);
      return order;
    };
    const { value, snapshots } = await recorded(program, async () => {
      await settle();
      const steps = [
        () => source.head("/fast"),
        () => ends.get("a")?.(),
        () => source.head("/slow"),
        () => source.end("/slow"),
        () => ends.get("b")?.(),
        () => source.end("/fast"),
      ];
      for (const step of steps) {
        step();
        await settle();
      }
    });
    const order = [`head of ${fast}`, "a", `head of ${slow}`, `body of ${slow}`, "b", `body of ${fast}`];
    expect(value).toEqual(order);
    for (const snapshot of snapshots) {
      expect(await replay(program, { snapshot })).toEqual(order);
      // And so have the recordings of a run that is resumed.
      const resumed = await recorded(program, async () => {}, snapshot);
      expect(resumed.value).toEqual(order);
      for (const again of resumed.snapshots) expect(await replay(program, { snapshot: again })).toEqual(order);
    }
    expect(source.asked).toHaveLength(2);
  });
});

describe("what won a race, and is asked again for its body, wins again", () => {
  /** The winner's body is on its way when the dump is taken. */
  async function resumed(
    program: (source: ReturnType<typeof manual>) => Promise<string>,
    direct: (source: ReturnType<typeof manual>) => Promise<void>,
  ): Promise<{ value: string; asked: string[] }> {
    let context: ReturnType<typeof captureContext>;
    const source = manual();
    const captured = async (): Promise<string> => {
      context = captureContext();
      return program(source);
    };
    let amid: AgentSnapshot | undefined;
    const { value } = await recorded(captured, async () => {
      await settle();
      await direct(source);
      await settle();
      amid = dumpSnapshot({ context });
      source.end("/winner");
    });
    expect(value).toBe("/winner 2");
    const direction = async (): Promise<void> => {
      await settle();
      source.head("/winner");
      await settle();
      source.end("/winner");
    };
    const again = await recorded(captured, direction, amid);
    for (const snapshot of again.snapshots) expect(await replay(captured, { snapshot })).toBe(again.value);
    return { value: again.value, asked: source.asked };
  }

  it("over one that was aborted", async () => {
    const program = async ({ fetch: plain }: ReturnType<typeof manual>): Promise<string> => {
      const fetch = rewindFetch(plain);
      const controller = new AbortController();
      const loser = fetch("http://host/loser", { signal: controller.signal });
      const winner = await Promise.race([loser, fetch("http://host/winner")]);
      controller.abort();
      await loser.catch(() => {});
      // What fails is handled where something is begun after it.
      await journalCall({ kind: "step", name: "after", request: {} }, () => "aborted");
      return winner.text();
    };
    const { value, asked } = await resumed(program, async (source) => source.head("/winner"));
    expect(value).toBe("/winner 3");
    expect(asked).toEqual(["/loser", "/winner", "/winner"]);
  });

  it("and nothing else waits for it: its request may wait for that", async () => {
    const source = manual();
    let context: ReturnType<typeof captureContext>;
    const program = async (): Promise<string[]> => {
      context = captureContext();
      const asked = rewindFetch(source.fetch)("http://host/slow");
      const step = async (): Promise<string> => {
        await settle();
        return journalCall({ kind: "step", name: "other", request: {} }, () => "other");
      };
      const given = await Promise.all([
        Promise.race([asked.then(() => "head"), settle().then(() => "gave up")]),
        step(),
      ]);
      await asked.then((response) => response.text());
      return given;
    };
    let amid: AgentSnapshot | undefined;
    const direction = async (): Promise<void> => {
      source.head("/slow");
      await settle();
      await settle();
      amid = dumpSnapshot({ context });
      source.end("/slow");
    };
    const { value } = await recorded(program, direction);
    expect(value).toEqual(["head", "other"]);
    const late = async (): Promise<void> => {
      await settle();
      await settle();
      source.head("/slow");
      await settle();
      source.end("/slow");
    };
    expect((await recorded(program, late, amid)).value).toEqual(["gave up", "other"]);
  });

  it("unless it fails now", async () => {
    const source = manual();
    let fails = false;
    const made: typeof globalThis.fetch = (input, init) =>
      fails ? Promise.reject(new TypeError("fetch failed")) : source.fetch(input, init);
    let context: ReturnType<typeof captureContext>;
    const program = async (): Promise<string> => {
      context = captureContext();
      const asked = rewindFetch(made)("http://host/winner");
      const step = asked.then(
        () => journalCall({ kind: "step", name: "later", request: {} }, () => "step"),
        () => "no step",
      );
      const winner = await asked.catch(() => new Response("failed"));
      return `${await step}, ${await winner.text()}`;
    };
    let amid: AgentSnapshot | undefined;
    const direction = async (): Promise<void> => {
      await settle();
      source.head("/winner");
      await settle();
      amid = dumpSnapshot({ context });
      source.end("/winner");
    };
    expect((await recorded(program, direction)).value).toBe("step, /winner 1");
    fails = true;
    expect(await resume(program, { snapshot: amid as AgentSnapshot })).toBe("no step, failed");
  });
});

it("a request that is asked again for its body has no place in the order before it is answered again", async () => {
  const source = manual();
  const fetch = rewindFetch(source.fetch);
  const order: string[] = [];
  let context: ReturnType<typeof captureContext>;
  const program = async (): Promise<string[]> => {
    context = captureContext();
    order.length = 0;
    const read = async (path: string): Promise<void> => {
      const response = await fetch(`http://host${path}`);
      order.push(`head of ${path}`);
      await response.text();
    };
    await Promise.race([read("/a"), read("/b")]);
    return order.slice();
  };
  let amid: AgentSnapshot | undefined;
  await recorded(program, async () => {
    await settle();
    source.head("/a");
    await settle();
    amid = dumpSnapshot({ context });
    source.end("/a");
  });
  expect(order).toEqual(["head of /a"]);
  const { value, snapshots } = await recorded(
    program,
    async () => {
      await settle();
      source.head("/b");
      await settle();
      source.end("/b");
    },
    amid,
  );
  expect(value).toEqual(["head of /b"]);
  for (const snapshot of snapshots) expect(await replay(program, { snapshot })).toEqual(value);
  expect(source.asked).toEqual(["/a", "/b", "/a", "/b"]);
});

describe("a frame that returns before a body in it has ended", () => {
  it("had handled what failed in it: that is not tried again", async () => {
    let tried = 0;
    const fetch = rewindFetch(async () => new Response("body"));
    const asker = async (): Promise<string> => {
      const failing = (): never => {
        tried += 1;
        throw new Error("busy");
      };
      await fetch("http://host/");
      return journalCall({ kind: "step", name: "failing", request: {} }, failing).catch(() => "went on");
    };
    const inFrame = (): Promise<string> => runFrame({ id: "asker", input: {} }, asker);
    const { value, snapshots } = await recorded(inFrame);
    expect(value).toBe("went on");
    for (const snapshot of snapshots) expect(await resume(inFrame, { snapshot })).toBe(value);
    expect(tried).toBe(1);
  });

  it("had no use for what failed in agents that it did not wait for: that is not tried again", async () => {
    let tried = 0;
    const fetch = rewindFetch(async () => new Response("body"));
    const failing = (): never => {
      tried += 1;
      throw new Error("busy");
    };
    const other = async (): Promise<void> => {
      await journalCall({ kind: "step", name: "failing", request: {} }, failing).catch(() => {});
      await new Promise(() => {});
    };
    const inFrame = (): Promise<number> =>
      runFrame({ id: "asker", input: {} }, async () => {
        // Nothing is begun after the failure: only the return tells that it was of no use.
        const asking = fetch("http://host/");
        void runFrame({ id: "other", input: {} }, other);
        await settle();
        return (await asking).status;
      });
    const { value, snapshots } = await recorded(inFrame);
    for (const snapshot of snapshots) expect(await resume(inFrame, { snapshot })).toBe(value);
    expect(tried).toBe(1);
  });

  it("leaves in flight what its end cuts short", async () => {
    const fetch = rewindFetch(async () => new Response("body"));
    const waiting = ({ signal }: CallInfo): Promise<never> =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    const inFrame = (): Promise<number> =>
      runFrame({ id: "asker", input: {} }, async () => {
        const other = (): Promise<never> => journalCall({ kind: "step", name: "other", request: {} }, waiting);
        void runFrame({ id: "other", input: {} }, other);
        return (await fetch("http://host/")).status;
      });
    const { snapshots } = await recorded(async () => {
      await inFrame();
      await settle();
    });
    for (const { root } of snapshots) {
      // The agent is all that a trace tells of.
      const asker = root.children["root/agent:asker:0"] ?? root;
      const other = asker.children["root/agent:asker:0/agent:other:0"];
      const [call] = other?.calls ?? [];
      expect(call).toMatchObject({ callId: "root/agent:asker:0/agent:other:0/step:other:0" });
      expect([call?.error, call?.endOrder, other?.endOrder]).toEqual([undefined, undefined, undefined]);
    }
  });

  const program =
    (fetch: typeof globalThis.fetch, step: (name: string) => Promise<string>, reads: boolean) =>
    async (): Promise<string[]> => {
      const order: string[] = [];
      let response: Response | undefined;
      const asking = runFrame({ id: "asker", input: {} }, async () => {
        response = await fetch("http://host/");
        return response.status;
      });
      const stepping = async (): Promise<void> => {
        for (const name of ["a", "b"]) order.push(await step(name));
      };
      await Promise.all([asking.then(() => order.push("frame")), stepping()]);
      if (reads) order.push((await response?.text()) ?? "");
      return order;
    };
  const step = (name: string): Promise<string> =>
    journalCall({ kind: "step", name, request: {} }, async () => {
      await settle();
      return name;
    });

  it.each([true, false])("keeps its place among other calls; the body is read: %s", async (reads) => {
    let made = 0;
    const run = program(
      rewindFetch(async () => new Response(`body ${++made}`)),
      step,
      reads,
    );
    const { value, snapshots } = await recorded(run);
    expect(value).toEqual(["frame", "a", "b", ...(reads ? ["body 1"] : [])]);
    for (const snapshot of snapshots) {
      expect(await replay(run, { snapshot })).toEqual(value);
      const resumed = await recorded(run, undefined, snapshot);
      for (const again of resumed.snapshots) expect(await replay(run, { snapshot: again })).toEqual(value);
    }
    expect(made).toBe(1);
  });

  it("records the body that a resumed run has asked for after it", async () => {
    let made = 0;
    const fetch = rewindFetch(async () => new Response(`body ${++made}`));
    const { snapshots } = await recorded(program(fetch, step, false));
    for (const snapshot of snapshots) {
      const reading = program(fetch, step, true);
      const { value, snapshots: read } = await recorded(reading, undefined, snapshot);
      for (const again of read) expect(await replay(reading, { snapshot: again })).toEqual(value);
    }
    expect(made).toBe(1 + snapshots.length);
  });
});

describe("what an agent has left running when it ended", () => {
  const calls = (snapshot: AgentSnapshot): string[] =>
    Object.values(snapshot.root.children)
      .flatMap(({ calls: own = [] }) => own)
      .map(({ callId }) => callId);
  const same = (made: () => Promise<string>): Promise<string> =>
    journalCall({ kind: "step", name: "same", request: {} }, made);
  const next = (): Promise<string> =>
    journalCall({ kind: "step", name: "next", request: {} }, () => settle().then(() => "next"));
  const endsOf = (events: TraceEvent[]): unknown[] =>
    events.filter(({ type }) => /^call:(answer|end)$/.test(type)).map((event) => (event as { callId?: string }).callId);

  it("is not told in the trace, though it fetches: equal calls would take its answers", async () => {
    const fetch = rewindFetch(async () => new Response("body"));
    let got: string[] = [];
    let left: Promise<void> = Promise.resolve();
    const program = async (): Promise<string> => {
      got = [];
      await runFrame({ id: "leaver", input: {} }, async () => {
        // It is in flight when the agent ends, and for ever.
        void same(() => new Promise(() => {})).then(
          (answer) => got.push(`first: ${answer}`),
          () => {},
        );
        left = (async () => {
          await settle();
          await fetch("http://host/");
          got.push(`second: ${await same(async () => "for the second")}`);
        })().catch(() => {});
      });
      await left;
      return next();
    };
    const { value, snapshots, events } = await recorded(program);
    expect(got).toEqual(["second: for the second"]);
    expect(endsOf(events)).toEqual(["root/step:next:0"]);
    for (const snapshot of snapshots) {
      expect(snapshot.warnings).toBeUndefined();
      expect(calls(snapshot)).toEqual(["root/agent:leaver:0/step:same:0"]);
      expect(await replay(program, { snapshot })).toBe(value);
      await left;
      expect(got).toEqual([]);
    }
  });

  it("does not keep open the frames above it", async () => {
    const source = manual();
    const fetch = rewindFetch(source.fetch);
    let context: ReturnType<typeof captureContext>;
    const states: unknown[] = [];
    await runWith(async () => {
      context = captureContext();
      await runFrame({ id: "outer", input: {} }, async () => {
        await runFrame({ id: "inner", input: {} }, async () => {
          void settle().then(() => fetch("http://host/"));
        });
        await settle();
        await settle();
        source.head("/");
        await settle();
      });
      states.push(Object.values(dumpSnapshot({ context }).root.children).map(({ state }) => state.status));
    });
    expect(source.asked).toEqual(["/"]);
    expect(states).toEqual([["completed"]]);
  });

  it("is told as it is recorded, as long as a body holds the agent's frame open", async () => {
    const source = manual();
    const fetch = rewindFetch(source.fetch);
    const search = {
      name: "search",
      description: "",
      parameters: z.looseObject({}),
      handler: () => settle().then(() => "found"),
    };
    let got: string[] = [];
    let left: Promise<void> = Promise.resolve();
    const program = async (): Promise<string> => {
      got = [];
      let body: Promise<string> | undefined;
      await runFrame({ id: "leaver", input: {} }, async () => {
        const response = await fetch("http://host/");
        body = response.text();
        void same(() => new Promise(() => {})).then(
          (answer) => got.push(`first: ${answer}`),
          () => {},
        );
        left = (async () => {
          await settle();
          got.push(`second: ${await same(async () => "for the second")}`);
          await withCustomSpan("later", async () => void got.push(await callTool(search, {})));
          source.end("/");
        })().catch(() => {});
      });
      return `${await body} ${await next()}`;
    };
    const { value, snapshots, events } = await recorded(program, async () => {
      await settle();
      source.head("/");
    });
    expect(got).toEqual(["second: for the second", "found"]);
    const starts = new Set(events.filter(({ type }) => type.endsWith(":start")).map(({ trace }) => trace.spanId));
    for (const { type, trace } of events) if (type.endsWith(":end")) expect(starts).toContain(trace.spanId);
    const [dumped] = snapshots;
    for (const snapshot of snapshots) {
      expect(snapshot.warnings).toBeUndefined();
      expect(calls(snapshot)).toEqual(calls(dumped as AgentSnapshot));
      expect(await replay(program, { snapshot })).toBe(value);
      await left;
      // The first is in flight still, and the second is given its own.
      expect(got).toEqual(["second: for the second", "found"]);
    }
    expect(source.asked).toEqual(["/"]);
  });
});

it("a dump right at a body's end does not take the place of the whole of it", async () => {
  // Whatever of the microtasks between the end and its journaling it is taken at.
  for (let turns = 0; turns < 30; turns++) {
    const source = manual();
    const fetch = rewindFetch(source.fetch);
    const program = async (): Promise<string> => (await fetch("http://host/")).text();
    const dumping = async (): Promise<string> => {
      const answer = program();
      await settle();
      source.head("/");
      await settle();
      source.end("/");
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      dumpSnapshot();
      return answer;
    };
    const { value, snapshots } = await recorded(dumping);
    for (const snapshot of snapshots) expect(await replay(program, { snapshot })).toBe(value);
  }
});

it("a body that had failed before it was aborted, and is read after that, has failed", async () => {
  let broken: ReadableStreamDefaultController<Uint8Array> | undefined;
  const made = async (_input: unknown, init?: RequestInit): Promise<Response> => {
    const { signal } = init ?? {};
    const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      broken = controller;
      signal?.addEventListener("abort", () => controller.error(signal.reason));
    };
    return new Response(new ReadableStream({ start }));
  };
  const program = (fails: boolean) => async (): Promise<string> => {
    const aborter = new AbortController();
    const response = await rewindFetch(made)("http://host/", { signal: aborter.signal });
    await journalCall(
      { kind: "step", name: "between", request: {} },
      () => fails && broken?.error(new TypeError("cut")),
    );
    aborter.abort();
    return response.text().catch(({ name, message }: Error) => `${name}: ${message}`);
  };
  for (const fails of [true, false]) {
    const { value, snapshots } = await recorded(program(fails));
    expect(value).toBe(fails ? "TypeError: cut" : "AbortError: This operation was aborted");
    for (const snapshot of snapshots) expect(await replay(program(fails), { snapshot })).toBe(value);
  }
});

it.each([
  ["a time-out", () => AbortSignal.timeout(5), "TimeoutError"],
  ["an error", () => AbortSignal.abort(new RangeError("enough")), "RangeError: enough"],
  ["none", () => AbortSignal.abort(), "AbortError: This operation was aborted"],
])("a body that is aborted with %s for a reason fails with it again", async (_, signalOf, expected) => {
  const made = async (_input: unknown, init?: RequestInit): Promise<Response> => {
    const { signal } = init ?? {};
    const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      controller.enqueue(Buffer.from("part"));
      signal?.addEventListener("abort", () => controller.error(signal.reason));
    };
    return new Response(new ReadableStream({ start }));
  };
  const program = async (): Promise<string> => {
    const aborter = new AbortController();
    const response = await rewindFetch(made)("http://host/", { signal: aborter.signal });
    const text = response.text().catch(({ name, message }: Error) => `${name}: ${message}`);
    await settle();
    const signal = signalOf();
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    aborter.abort(signal.reason);
    return text;
  };
  const { value, snapshots } = await recorded(program);
  expect(value).toMatch(expected);
  for (const snapshot of snapshots) expect(await replay(program, { snapshot })).toBe(value);
});

it("an empty body that has come is read as such after an abort", async () => {
  const fetch = rewindFetch(async () => new Response(""));
  const program = async (): Promise<string> => {
    const controller = new AbortController();
    const response = await fetch("http://host/", { signal: controller.signal });
    controller.abort();
    return response.text();
  };
  const { value, snapshots } = await recorded(program);
  expect(value).toBe("");
  for (const snapshot of snapshots) expect(await replay(program, { snapshot })).toBe(value);
});

describe("an answer whose body nobody has read", () => {
  it("is not asked for again by who resumes a run that was killed after it", async () => {
    let made = 0;
    const fetch = rewindFetch(async () => new Response(`body ${++made}`, { status: 201 }));
    const program = async (): Promise<unknown> => {
      const { status } = await fetch("http://host/", { method: "POST", body: "x" });
      return [status, await journalCall({ kind: "step", name: "next", request: {} }, () => "next")];
    };
    const { value, events } = await recorded(program);
    const killed = events.slice(
      0,
      events.findIndex(({ type, ...event }) => type === "call:start" && "kind" in event && event.kind === "step"),
    );
    expect(killed.map(({ type }) => type)).not.toContain("call:end");
    expect(await resume(program, { snapshot: restoreSnapshot(killed) })).toEqual(value);
    expect(made).toBe(1);
  });

  it("is asked for again if a part of it had come when the run was killed", async () => {
    let made = 0;
    const fetch = rewindFetch(async () => {
      const status = made++ === 0 ? 200 : 429;
      return new Response(status === 200 ? "body" : "busy", { status });
    });
    const program = async (): Promise<unknown> => {
      const response = await fetch("http://host/");
      return [response.status, await response.text()];
    };
    const { value, events } = await recorded(program);
    expect(value).toEqual([200, "body"]);
    const killed = events.slice(
      0,
      events.findIndex(({ type }) => type === "call:end"),
    );
    expect(await resume(program, { snapshot: restoreSnapshot(killed) })).toEqual([429, "busy"]);
  });

  it("keeps its head in its place where asking for the body fails", async () => {
    let made = 0;
    const fetch = rewindFetch(async () => {
      if (made++ > 0) throw new TypeError("the network is down");
      return new Response("body");
    });
    const program = (reads: boolean) => async (): Promise<unknown> => {
      const response = await fetch("http://host/");
      const next = await journalCall({ kind: "step", name: "next", request: {} }, () => "next");
      const failure = (error: unknown): string => (error as Error).message;
      return [response.status, next, reads && (await response.text().catch(failure))];
    };
    const { snapshots } = await recorded(program(false));
    for (const snapshot of snapshots) {
      const { value, snapshots: failed } = await recorded(program(true), undefined, snapshot);
      expect(value).toEqual([200, "next", "the network is down"]);
      for (const again of failed) expect(await replay(program(true), { snapshot: again })).toEqual(value);
    }
    expect(made).toBe(1 + snapshots.length);
  });

  it("and tells of an error that the program went on after is not asked for again", async () => {
    let made = 0;
    const fetch = rewindFetch(async () => new Response("busy", { status: 503 + made++ }));
    const program = async (): Promise<number[]> => [
      (await fetch("http://host/a")).status,
      (await fetch("http://host/b")).status,
      await journalCall({ kind: "step", name: "next", request: {} }, () => 1),
    ];
    const { value, snapshots } = await recorded(program);
    expect(value).toEqual([503, 504, 1]);
    for (const snapshot of snapshots) expect(await resume(program, { snapshot })).toEqual(value);
    expect(made).toBe(2);
  });
});
