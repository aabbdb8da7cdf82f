// Which failures a resumed run executes again, by the shape of the program. The snapshot is taken, or the process is
// killed, right after the start of the call "y". The clients await before their calls, as openai does.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { collectTrace, dumpSnapshot, restoreSnapshot } from "../../ts/debugger.js";
import { rewindFetch } from "../../ts/fetch/index.js";
import { callTool, captureContext, journalCall, resume, runFrame, runWith } from "../../ts/index.js";
import type { AgentSnapshot, ReplayReport } from "../../ts/index.js";
import { deferred, sleep } from "../support/deferred.js";

/** Set when "x" fails. */
const x = { hasFailed: false };
/** Settled when "y" starts. */
let y = deferred();
/** Resolves some time after that. */
const later = async (): Promise<void> => {
  while (!x.hasFailed) await sleep(1);
  await sleep(4);
};

type Client = (name: string, ms?: number, fail?: boolean) => Promise<string>;
type Shape = (client: Client) => unknown;

/** The snapshots at the start of "y", from a dump and from the trace. */
async function snapshotsAt(shape: Shape): Promise<AgentSnapshot[]> {
  const taken: AgentSnapshot[] = [];
  const trace = collectTrace();
  x.hasFailed = false;
  y = deferred();
  const client: Client = async (name, ms = 0, fail = false) => {
    await Promise.resolve();
    return journalCall({ kind: "step", name, request: name }, async () => {
      if (name === "y") {
        if (taken.length === 0) taken.push(dumpSnapshot());
        y.resolve();
      }
      await sleep(ms);
      if (!fail) return name;
      x.hasFailed = true;
      throw new Error(name);
    });
  };
  await runWith(async () => {
    await (shape(client) as Promise<unknown>);
  }).catch(() => {});
  await sleep(40);
  const events = trace.stop();
  const start = events.findIndex((event) => event.type === "call:start" && event.name === "y");
  return [...taken, restoreSnapshot(events.slice(0, start + 1))];
}

/** Resumes the snapshot. Returns the report, and whether "x", which had failed, was executed again. */
async function resumed(snapshot: AgentSnapshot): Promise<{ again: boolean; unproven: boolean }> {
  let again = false;
  let report: ReplayReport | undefined;
  await resume(
    () =>
      journalCall({ kind: "step", name: "x", request: "x" }, () => {
        again = true;
      }).catch(() => {}),
    { snapshot, onReport: (given) => (report = given) },
  );
  return { again, unproven: report?.unprovenFailures.includes("root/step:x:0") === true };
}

const awaiter = <T>(body: () => Generator<unknown, T, unknown>): Promise<T> =>
  // As TypeScript compiles async functions for ES2016.
  new Promise((resolve, reject) => {
    const generator = body();
    const next = (value?: unknown): void => follow(() => generator.next(value));
    const fail = (error: unknown): void => follow(() => generator.throw(error));
    const follow = (advance: () => IteratorResult<unknown, T>): void => {
      try {
        const { done, value } = advance();
        if (done === true) resolve(value);
        else void Promise.resolve(value).then(next, fail);
      } catch (error) {
        reject(error as Error);
      }
    };
    next();
  });

/** A queue like p-limit: its tasks run in no async stack. */
const queued = <T>(task: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    setImmediate(() => {
      task().then(
        (value) => resolve(value),
        (error: unknown) => reject(error as Error),
      );
    });
  });

/** A queue that runs one task at a time, as p-limit(1) and p-queue with a concurrency of 1 do. */
const queueOfOne = (): (<T>(task: () => Promise<T>) => Promise<T>) => {
  const waiting: (() => void)[] = [];
  let isBusy = false;
  const next = (): void => {
    isBusy = false;
    waiting.shift()?.();
  };
  return (task) =>
    new Promise((resolve) => {
      const run = (): void => {
        isBusy = true;
        const result = task();
        resolve(result);
        result.then(next, next);
      };
      if (isBusy) waiting.push(run);
      else run();
    });
};

const HANDLED: Record<string, Shape> = {
  "try, catch": async (client) => {
    try {
      await client("x", 2, true);
    } catch {
      await client("y", 2);
    }
  },
  "a fallback after a pause": async (client) => {
    try {
      await client("x", 2, true);
    } catch {
      await sleep(5);
      await client("y", 2);
    }
  },
  "Promise.allSettled": async (client) => {
    await Promise.allSettled([client("x", 2, true), sleep(1)]);
    await client("y", 1);
  },
  "a combinator that another one with equal functions follows": async (client) => {
    await Promise.allSettled([client("x", 2, true), sleep(1)]);
    await Promise.allSettled([sleep(1), client("y", 1)]);
  },
  "a race that is caught": async function main(client) {
    try {
      await Promise.race([client("x", 2, true), y.promise]);
    } catch {
      await client("y", 1);
    }
  },
  "a branch that handles its own failure": async (client) => {
    const branch = async (): Promise<void> => {
      try {
        await client("x", 2, true);
      } catch {
        await client("y", 1);
      }
    };
    await Promise.all([branch(), sleep(20)]);
  },
  "a nested Promise.all": async (client) => {
    const outer = async (): Promise<void> => {
      try {
        await Promise.all([client("x", 2, true), sleep(1)]);
      } catch {
        await client("y", 1);
      }
    };
    await Promise.all([sleep(1), outer()]);
  },
  recursion: async (client) => {
    const attempt = async (count: number): Promise<string> => {
      try {
        return await client(count === 0 ? "x" : "y", 1, count === 0);
      } catch {
        return await attempt(count + 1);
      }
    };
    await attempt(0);
  },
  "for await": async (client) => {
    const values = async function* (): AsyncGenerator<number> {
      try {
        await client("x", 1, true);
      } catch {
        yield 1;
      }
    };
    for await (const value of values()) await client("y", value);
  },
  "a callback of then": (client) =>
    client("x", 1, true).then(
      () => "",
      () => client("y", 1),
    ),
  "a subclass of Promise": async (client) => {
    class Own<T> extends Promise<T> {}
    const own: Client = (...call) => new Own((resolve, reject) => void client(...call).then(resolve, reject));
    try {
      await own("x", 1, true);
    } catch {
      await own("y", 1);
    }
  },
  "transpiled async functions": (client) => {
    const own: Client = (...call) =>
      awaiter(function* () {
        yield null;
        return (yield client(...call)) as string;
      });
    return awaiter(function* () {
      try {
        yield own("x", 1, true);
      } catch {
        yield sleep(4);
        yield own("y", 1);
      }
    });
  },
  "a task of a queue with its own fallback": async (client) => {
    const task = async (): Promise<void> => {
      try {
        await client("x", 2, true);
      } catch {
        await sleep(4);
        await client("y", 1);
      }
    };
    await Promise.all([queued(task), sleep(1)]);
  },
  "a loop that tries all of a list again": async (client) => {
    for (const [name, fail] of [
      ["x", true],
      ["y", false],
    ] as const) {
      await Promise.all([sleep(1), client(name, 1, fail)]).catch(() => sleep(3));
    }
  },
};

const UNSEEN: Record<string, Shape> = {
  "a fallback from a bare timer": (client) =>
    new Promise((resolve) => {
      client("x", 1, true).catch(() => setTimeout(() => void client("y", 1).then(resolve), 3));
    }),
  "a sibling in Promise.all that sleeps first": async (client) => {
    const sibling = async (): Promise<void> => {
      await later();
      await client("y", 1);
    };
    await Promise.all([client("x", 3, true), sibling()]).finally(() => y.promise);
  },
  "a sibling in Promise.allSettled": async (client) => {
    const sibling = async (): Promise<void> => {
      await later();
      await client("y", 1);
    };
    const [first] = await Promise.allSettled([client("x", 3, true), sibling()]);
    if (first.status === "rejected") throw first.reason;
  },
  "a call that is not awaited yet": async (client) => {
    const prefetched = (async () => client("x", 3, true))();
    prefetched.catch(() => {});
    await later();
    await client("y", 1);
    await prefetched;
  },
  "an anonymous timer": async (client) => {
    const timer = setInterval(() => {
      if (!x.hasFailed) return;
      clearInterval(timer);
      setTimeout(() => void client("y", 1), 2);
    }, 1);
    try {
      await client("x", 3, true);
    } finally {
      await y.promise;
    }
  },
  "the other branch of a race": async (client) => {
    const slow = async (): Promise<void> => {
      await later();
      await client("y", 1);
    };
    await Promise.race([client("x", 3, true), slow()]).finally(() => y.promise);
  },
  "branches with equal names that are not awaited": async (client) => {
    const job = async (name: string, ms: number, fail: boolean): Promise<void> => {
      if (!fail) await later();
      await client(name, ms, fail);
    };
    const failing = job("x", 3, true);
    failing.catch(() => {});
    await job("y", 1, false);
    await failing;
  },
  "another branch of the same combinator in the next round of a loop": async (client) => {
    for (const name of ["x", "y"]) {
      const call = async (): Promise<void> => {
        await client(name, 1, name === "x");
      };
      await Promise.allSettled(name === "x" ? [call(), sleep(1)] : [sleep(1), call()]);
    }
  },
  "a branch with a call that was open": async (client) => {
    const branch = async (): Promise<void> => {
      await client("z", 20);
      await client("y", 1);
    };
    await Promise.all([client("x", 3, true), branch()]).finally(() => y.promise);
  },
};

describe("the failure of a call is replayed after", () => {
  it.each(Object.entries(HANDLED))("%s", async (_, shape) => {
    const [dump, trace] = await snapshotsAt(shape);
    for (const snapshot of [dump, trace] as AgentSnapshot[]) {
      expect(await resumed(snapshot)).toEqual({ again: false, unproven: false });
    }
  });
});

describe("the failed call is executed again, and the report says why, after", () => {
  it.each(Object.entries(UNSEEN))("%s", async (_, shape) => {
    const [dump, trace] = await snapshotsAt(shape);
    for (const snapshot of [dump, trace] as AgentSnapshot[]) {
      expect(await resumed(snapshot)).toEqual({ again: true, unproven: true });
    }
  });
});

describe("a failure that ended the run", () => {
  const again = async (program: () => Promise<unknown>): Promise<{ result: unknown; made: string[] }[]> => {
    const trace = collectTrace();
    const dumps: AgentSnapshot[] = [];
    let context: ReturnType<typeof captureContext> | undefined;
    broken = true;
    await expect(
      runWith(async () => {
        context = captureContext();
        try {
          return await program();
        } catch (error) {
          dumps.push(dumpSnapshot({ error }));
          throw error;
        }
      }),
    ).rejects.toBeInstanceOf(Error);
    const events = trace.stop();
    if (context !== undefined) dumps.push(dumpSnapshot({ context }));
    broken = false;
    const seen: { result: unknown; made: string[] }[] = [];
    for (const snapshot of [...dumps, restoreSnapshot(events)]) {
      made.length = 0;
      seen.push({ result: await resume(program, { snapshot }), made: [...made] });
    }
    return seen;
  };
  const made: string[] = [];
  let broken = true;
  const call = (name: string, ms: number, error: Error = new Error("boom")): Promise<string> =>
    journalCall({ kind: "chat", name: "m", request: { name } }, async () => {
      made.push(name);
      await sleep(ms);
      if (name.startsWith("bad") && broken) throw error;
      return `${name}!`;
    });

  it("is executed again, whatever other branches did after it", async () => {
    const program = async (): Promise<unknown> => {
      const settled = await Promise.allSettled([
        (async () => call(`a${await call("bad", 5)}`, 5))(),
        (async () => call(`b${await call("b", 20)}`, 5))(),
      ]);
      const failed = settled.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
      if (failed !== undefined) throw failed.reason;
      return settled.map((branch) => (branch as PromiseFulfilledResult<unknown>).value);
    };
    for (const { result, made: calls } of await again(program)) {
      expect(result).toEqual(["abad!!", "bb!!"]);
      expect(calls).toEqual(["bad", "abad!"]);
    }
  });

  it.each<[string, (error: unknown) => unknown]>([
    ["a cause of the error", (cause) => new Error("outer", { cause: new Error("inner", { cause }) })],
    ["a member of an AggregateError", (error) => new AggregateError([new Error("other"), error], "several")],
    ["a member of a cause", (error) => new Error("outer", { cause: new AggregateError([error]) })],
    ["held by the error", (error) => Object.assign(new Error("outer"), { lastError: error })],
  ])("is found as %s, after the program had gone on", async (_, wrap) => {
    const program = async (): Promise<unknown> => {
      let error: unknown;
      const first = await call("bad", 1).catch((caught: unknown) => void (error = caught));
      const second = await call("good", 1);
      if (error !== undefined) throw wrap(error);
      return [first, second];
    };
    for (const { result, made: calls } of await again(program)) {
      expect(result).toEqual(["bad!", "good!"]);
      expect(calls).toEqual(["bad"]);
    }
  });

  it("is not mistaken for an equal failure that was handled", async () => {
    const program = async (): Promise<unknown> => {
      const first = await call("bad 1", 1).catch(() => "handled");
      return [first, await call("bad 2", 1)];
    };
    for (const { result, made: calls } of await again(program)) {
      expect(result).toEqual(["handled", "bad 2!"]);
      expect(calls).toEqual(["bad 2"]);
    }
  });
});

describe("the next task of a queue of one after a failed task", () => {
  const shape: Shape = (client) => {
    const queue = queueOfOne();
    return Promise.all([queue(() => client("x", 2, true)), queue(() => client("y", 2))]);
  };

  it("starts in the turn of the failure, so a run that is killed there replays it", async () => {
    for (const snapshot of await snapshotsAt(shape)) {
      expect(await resumed(snapshot)).toEqual({ again: false, unproven: false });
    }
  });

  it("does not count if the run ends with the failure", async () => {
    const trace = collectTrace();
    const client: Client = (name, ms = 0, fail = false) =>
      journalCall({ kind: "step", name, request: name }, async () => {
        await sleep(ms);
        if (fail) throw new Error(name);
        return name;
      });
    await expect(runWith(() => shape(client))).rejects.toThrow("x");
    expect(await resumed(restoreSnapshot(trace.stop()))).toEqual({ again: true, unproven: false });
  });
});

describe("with --no-async-stack-traces", () => {
  const program = `
    import { setTimeout as sleep } from "node:timers/promises";
    import { journalCall, resume, runWith } from "agent-rewind";
    import { dumpSnapshot } from "agent-rewind/debugger";

    const shapes = {
      async "try, catch"(client) {
        await client("x", true).catch(() => {});
        await client("y");
      },
      async "a fallback after a pause"(client) {
        try {
          await client("x", true);
        } catch {
          await sleep(5);
          await client("y");
        }
      },
      async "a fallback in a branch that starts at once"(client) {
        const branch = () => client("x", true).catch(() => client("y"));
        await Promise.all([branch(), client("z")]);
      },
      async "a fallback after a pause, while another branch has an open call"(client) {
        const branch = () => client("x", true).catch(async () => { await sleep(5); return client("y"); });
        await Promise.all([branch(), client("z")]);
      },
      async "a sibling"(client, failed) {
        const sibling = async () => { await failed; await sleep(5); await client("y"); };
        await Promise.allSettled([client("x", true), sibling(), client("z")]);
      },
    };
    const found = {};
    for (const [title, shape] of Object.entries(shapes)) {
      let snapshot, fail, end;
      const failed = new Promise((resolve) => (fail = resolve));
      const ended = new Promise((resolve) => (end = resolve));
      const client = async (name, fails = false) => {
        await Promise.resolve();
        return journalCall({ kind: "step", name, request: name }, async () => {
          if (name === "y") { snapshot = dumpSnapshot(); end(); }
          // Open until the snapshot is taken.
          if (name === "z") await ended;
          await sleep(2);
          if (!fails) return name;
          fail();
          throw new Error(name);
        });
      };
      await runWith(() => shape(client, failed));
      let again = false, unproven;
      await resume(
        () => journalCall({ kind: "step", name: "x", request: "x" }, () => { again = true; }).catch(() => {}),
        { snapshot, onReport: (report) => { unproven = report.unprovenFailures.length > 0; } },
      );
      found[title] = again && unproven ? "unproven" : again ? "again" : "replayed";
    }
    console.log(JSON.stringify(found));
  `;

  it("a failure is replayed only where the turn of the event loop, or that nothing else was open, shows that it was handled", async () => {
    const cwd = fileURLToPath(new URL("../../", import.meta.url));
    const args = ["--no-async-stack-traces", "--input-type=module", "-e", program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
    expect(JSON.parse(stdout)).toEqual({
      "try, catch": "replayed",
      "a fallback after a pause": "replayed",
      "a fallback in a branch that starts at once": "replayed",
      "a fallback after a pause, while another branch has an open call": "unproven",
      "a sibling": "unproven",
    });
  });
});

describe("a failed response", () => {
  const made: string[] = [];
  let broken = true;
  const fetch = rewindFetch(async (_url, init) => {
    const body = init?.body as string;
    made.push(body);
    await sleep(2);
    const status = body.includes("bad") && broken ? 503 : 200;
    const answer = { choices: [{ message: { role: "assistant", content: `to ${body.length}` } }] };
    const text = JSON.stringify(status === 200 ? answer : { error: { message: "busy" } });
    return new Response(text, { status, headers: { "content-type": "application/json" } });
  });
  const send = (content: string): Promise<Response> =>
    fetch("https://model.test/", { method: "POST", body: `"${content}"` });
  const openai = new OpenAI({ apiKey: "key", baseURL: "https://model.test", fetch, maxRetries: 0 });

  it.each<[string, (content: string) => Promise<unknown>]>([
    ["its headers", (content) => openai.chat.completions.create({ model: "m", messages: [{ role: "user", content }] })],
    [
      "the response",
      async (content) => {
        const response = await send(content);
        if (!response.ok) throw Object.assign(new Error("no"), { response });
        return response.json();
      },
    ],
    [
      "what holds its headers",
      async (content) => {
        const { ok, headers, status } = await send(content);
        if (!ok) throw Object.assign(new Error("no"), { rawResponse: { headers, status } });
        return ok;
      },
    ],
    [
      "its status and its body",
      async (content) => {
        const response = await send(content);
        const responseBody = await response.text();
        if (!response.ok) throw Object.assign(new Error("no"), { statusCode: response.status, responseBody });
        return responseBody;
      },
    ],
  ])("is executed again if the run ended with an error that has %s, whatever other branches did", async (_, ask) => {
    const program = async (): Promise<number> => {
      const settled = await Promise.allSettled([
        ask("bad"),
        (async () => {
          await ask("good");
          await later();
          return ask("last");
        })(),
      ]);
      const failed = settled.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
      if (failed !== undefined) throw failed.reason;
      return settled.length;
    };
    broken = true;
    x.hasFailed = true;
    const trace = collectTrace();
    let dump: AgentSnapshot | undefined;
    const run = runWith(program, { onEnd: () => void (dump = dumpSnapshot()) });
    await expect(run).rejects.toBeInstanceOf(Error);
    const events = trace.stop();
    broken = false;
    for (const snapshot of [dump as AgentSnapshot, restoreSnapshot(events)]) {
      made.length = 0;
      expect(await resume(program, { snapshot })).toBe(2);
      expect(made.map((body) => /bad|good|last/.exec(body)?.[0])).toEqual(["bad"]);
    }
  });

  it("is replayed if the client had tried again", async () => {
    const program = async (): Promise<string> => {
      const first = await send("bad 1");
      await sleep(3);
      const second = await send("good");
      return `${first.status} ${second.status}`;
    };
    broken = true;
    const trace = collectTrace();
    expect(await runWith(program)).toBe("503 200");
    const events = trace.stop();
    const second = events.findLastIndex(({ type }) => type === "call:start");
    made.length = 0;
    expect(await resume(program, { snapshot: restoreSnapshot(events.slice(0, second + 1)) })).toBe("503 200");
    expect(made).toEqual(['"good"']);
  });
});

describe("a failure inside a call", () => {
  it("is executed again with the call that failed with it", async () => {
    let broken = true;
    const made: string[] = [];
    const step = (name: string, ms: number): Promise<string> =>
      journalCall({ kind: "step", name, request: name }, async () => {
        made.push(name);
        await sleep(ms);
        if (name === "bad" && broken) throw new Error("bad");
        return name;
      });
    const program = (): Promise<string> =>
      journalCall({ kind: "tool", name: "outer", request: {} }, async () => {
        made.push("outer");
        const first = await step("bad", 1).catch((error: unknown) => error);
        const second = await step("good", 1);
        if (first instanceof Error) throw first;
        return `${first as string} ${second}`;
      });
    const trace = collectTrace();
    let dump: AgentSnapshot | undefined;
    await expect(runWith(program, { onEnd: () => void (dump = dumpSnapshot()) })).rejects.toThrow("bad");
    const events = trace.stop();
    broken = false;
    for (const snapshot of [dump as AgentSnapshot, restoreSnapshot(events)]) {
      made.length = 0;
      expect(await resume(program, { snapshot })).toBe("bad good");
      expect(made).toEqual(["outer", "bad"]);
    }
  });
});

describe("a handled failure of a sub-agent", () => {
  it("is replayed while a middleware holds the tool that follows, from the dump and the trace", async () => {
    const made: string[] = [];
    let approve = (): void => {};
    const approval = new Promise<void>((resolve) => (approve = resolve));
    const ship = {
      name: "ship",
      description: "",
      parameters: z.object({}),
      handler: () => made.push("ship"),
      middlewares: [
        { name: "approval", handler: (_call: unknown, next: () => Promise<unknown>) => approval.then(() => next()) },
      ],
    };
    let context: ReturnType<typeof captureContext> | undefined;
    const program = async (): Promise<unknown> => {
      context = captureContext();
      const fail = (): Promise<never> =>
        journalCall({ kind: "step", name: "primary", request: 1 }, () => {
          made.push("primary");
          throw new Error("no");
        });
      try {
        return await runFrame({ id: "sub", input: 1 }, fail);
      } catch {
        return callTool(ship, {});
      }
    };
    const trace = collectTrace();
    const running = runWith(program);
    await sleep(10);
    const snapshots = [dumpSnapshot(context === undefined ? {} : { context }), restoreSnapshot(trace.stop())];
    approve();
    await running;
    for (const snapshot of snapshots) {
      made.length = 0;
      await resume(program, { snapshot });
      expect(made).toEqual(["ship"]);
    }
  });

  it.each(["rerun", "reuse"] as const)("stays handled in a dump of a run with %s", async (completedFrames) => {
    const made: string[] = [];
    const call = (name: string, ms: number): Promise<string> =>
      journalCall({ kind: "step", name, request: 1 }, async () => {
        made.push(name);
        await sleep(ms);
        if (name === "flaky") throw new Error("failed");
        return name;
      });
    let middle: AgentSnapshot | undefined;
    const program = async (): Promise<AgentSnapshot> => {
      await Promise.allSettled([runFrame({ id: "sub", input: 1 }, () => call("flaky", 1)), call("other", 5)]);
      middle = dumpSnapshot();
      await call("after", 1);
      return dumpSnapshot();
    };
    const snapshot = await runWith(program);
    await resume(program, { snapshot, completedFrames });
    made.length = 0;
    await resume(program, { snapshot: middle as AgentSnapshot });
    expect(made).toEqual([]);
  });
});

it("a dump that is taken at the end of a run knows what its trace knows: what it returned with was handled", async () => {
  let made = 0;
  const program = async (): Promise<string> =>
    journalCall({ kind: "step", name: "x", request: {} }, () => {
      made += 1;
      throw new Error("no");
    }).catch(() => "fallback");
  const trace = collectTrace();
  let dump: AgentSnapshot | undefined;
  await runWith(program, { onEnd: () => void (dump = dumpSnapshot()) });
  for (const snapshot of [dump as AgentSnapshot, restoreSnapshot(trace.stop())]) {
    made = 0;
    let report: ReplayReport | undefined;
    expect(await resume(program, { snapshot, onReport: (given) => (report = given) })).toBe("fallback");
    expect(made).toBe(0);
    expect(report).toMatchObject({ replayedFailures: 1, unprovenFailures: [] });
    expect(report?.endedByReplayed).toBeUndefined();
  }
});

describe("a replayed failure", () => {
  const failing = (): Promise<string> =>
    journalCall({ kind: "step", name: "late", request: {} }, async () => {
      await sleep(5);
      throw new RangeError("late");
    });

  it("that ends the run says so in the stack of the error and in the report", async () => {
    const { snapshot } = await runWith(async () => {
      await failing().catch(() => {});
      await journalCall({ kind: "step", name: "next", request: {} }, () => 1);
      return { snapshot: dumpSnapshot() };
    });
    let report: ReplayReport | undefined;
    const error: unknown = await resume(() => failing(), { snapshot, onReport: (given) => (report = given) }).catch(
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({ name: "RangeError", message: "late" });
    expect((error as Error).stack).toMatch(/RangeError: late[^]*root\/step:late:0.*failures: "retry"/);
    expect(report).toMatchObject({ replayedFailures: 1, unprovenFailures: [], endedByReplayed: "root/step:late:0" });
  });

  it("is counted, and no unhandled rejection, also if a function of the program or a client wraps it", async () => {
    const wrap = async (): Promise<string> => {
      try {
        return await failing();
      } catch (cause) {
        throw new Error("wrapped", { cause });
      }
    };
    for (const start of [failing, async () => await failing(), wrap]) {
      let isRecording = true;
      const program = async (): Promise<string> => {
        const pending = start();
        // The recorded program would be ended by the rejection that it handles too late. The replayed one is not.
        if (isRecording) pending.catch(() => {});
        await sleep(20);
        return pending.catch((error: unknown) => `handled ${(error as Error).message}`);
      };
      const { value, snapshot } = await runWith(async () => ({ value: await program(), snapshot: dumpSnapshot() }));
      isRecording = false;
      let report: ReplayReport | undefined;
      const unhandled: unknown[] = [];
      const listen = (reason: unknown): void => void unhandled.push(reason);
      process.on("unhandledRejection", listen);
      try {
        // Nothing is recorded after the failure, so resuming would execute it again.
        for (const options of [{ mode: "replay" }, { failures: "replay" }] as const) {
          const replayed = await runWith(program, { snapshot, ...options, onReport: (given) => (report = given) });
          expect(replayed).toBe(value);
          expect(report).toMatchObject({ replayedFailures: 1, live: 0 });
        }
        await sleep(5);
      } finally {
        process.off("unhandledRejection", listen);
      }
      expect(unhandled).toEqual([]);
    }
  });
});
