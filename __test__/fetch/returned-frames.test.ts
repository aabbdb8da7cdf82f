// Agents that return before their response bodies or started calls have ended.
import {
  callTool,
  captureContext,
  journalCall,
  replay,
  resume,
  runFrame,
  runWith,
  withCustomSpan,
  type CallInfo,
  type TraceEvent,
} from "agent-rewind";
import { dumpSnapshot, type AgentSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import { manual, recorded, settle } from "../support/manual-fetch.js";

describe("a frame that returns before a response body in it has ended", () => {
  it("has handled its failures: they are not retried", async () => {
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

  it("has handled the failures of agents that it did not wait for: they are not retried", async () => {
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
        // Nothing starts after the failure. Only the return of the frame shows that the failure did not matter.
        const asking = fetch("http://host/");
        void runFrame({ id: "other", input: {} }, other);
        await settle();
        return (await asking).status;
      });
    const { value, snapshots } = await recorded(inFrame);
    for (const snapshot of snapshots) expect(await resume(inFrame, { snapshot })).toBe(value);
    expect(tried).toBe(1);
  });

  it("leaves calls in flight that its end cuts off", async () => {
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
      // The trace reports only the agent.
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

  it.each([true, false])("keeps its position among other calls; the body is read: %s", async (reads) => {
    let liveCalls = 0;
    const run = program(
      rewindFetch(async () => new Response(`body ${++liveCalls}`)),
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
    expect(liveCalls).toBe(1);
  });

  it("records the body that a resumed run requests after the frame returned", async () => {
    let liveCalls = 0;
    const fetch = rewindFetch(async () => new Response(`body ${++liveCalls}`));
    const { snapshots } = await recorded(program(fetch, step, false));
    for (const snapshot of snapshots) {
      const reading = program(fetch, step, true);
      const { value, snapshots: read } = await recorded(reading, undefined, snapshot);
      for (const again of read) expect(await replay(reading, { snapshot: again })).toEqual(value);
    }
    expect(liveCalls).toBe(1 + snapshots.length);
  });
});

describe("a call that an agent left running when it ended", () => {
  const calls = (snapshot: AgentSnapshot): string[] =>
    Object.values(snapshot.root.children)
      .flatMap(({ calls: own = [] }) => own)
      .map(({ callId }) => callId);
  const same = (execute: () => Promise<string>): Promise<string> =>
    journalCall({ kind: "step", name: "same", request: {} }, execute);
  const next = (): Promise<string> =>
    journalCall({ kind: "step", name: "next", request: {} }, () => settle().then(() => "next"));
  const endsOf = (events: TraceEvent[]): unknown[] =>
    events.filter(({ type }) => /^call:(answer|end)$/.test(type)).map((event) => (event as { callId?: string }).callId);

  it("is in flight, and the calls that it begins later are recorded", async () => {
    const fetch = rewindFetch(async () => new Response("body"));
    let got: string[] = [];
    let left: Promise<void> = Promise.resolve();
    const program = async (): Promise<string> => {
      got = [];
      await runFrame({ id: "leaver", input: {} }, async () => {
        // It is in flight when the agent ends and never finishes.
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
    expect(endsOf(events)).toEqual([
      "root/agent:leaver:0/fetch:host:0",
      "root/agent:leaver:0/step:same:1",
      "root/step:next:0",
      "root/agent:leaver:0/fetch:host:0",
    ]);
    for (const snapshot of snapshots) {
      expect(snapshot.warnings).toBeUndefined();
      expect(calls(snapshot)).toEqual([
        "root/agent:leaver:0/step:same:0",
        "root/agent:leaver:0/fetch:host:0",
        "root/agent:leaver:0/step:same:1",
      ]);
      expect(await replay(program, { snapshot })).toBe(value);
      // The first call is still in flight, and the second receives its own answer.
      expect(got).toEqual(["second: for the second"]);
    }
  });

  it("does not keep the parent frames open", async () => {
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

  it("is in the trace as in the dump while a body keeps the agent's frame open", async () => {
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
      // The first call is still in flight, and the second receives its own answer.
      expect(got).toEqual(["second: for the second", "found"]);
    }
    expect(source.asked).toEqual(["/"]);
  });
});
