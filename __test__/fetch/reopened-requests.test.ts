// Requests that a resumed run sends again because their bodies were not completely recorded.
import { captureContext, journalCall, replay, resume } from "agent-rewind";
import { dumpSnapshot, restoreSnapshot, type AgentSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { describe, expect, it } from "vitest";

import { manual, recorded, settle } from "../support/manual-fetch.js";

describe("a request that won a race and is sent again for its body wins again", () => {
  /** The body of the winner is still arriving when the dump is taken. */
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
    let midDump: AgentSnapshot | undefined;
    const { value } = await recorded(captured, async () => {
      await settle();
      await direct(source);
      await settle();
      midDump = dumpSnapshot({ context });
      source.end("/winner");
    });
    expect(value).toBe("/winner 2");
    const direction = async (): Promise<void> => {
      await settle();
      source.head("/winner");
      await settle();
      source.end("/winner");
    };
    const again = await recorded(captured, direction, midDump);
    for (const snapshot of again.snapshots) expect(await replay(captured, { snapshot })).toBe(again.value);
    return { value: again.value, asked: source.asked };
  }

  it("against an aborted request", async () => {
    const program = async ({ fetch: plain }: ReturnType<typeof manual>): Promise<string> => {
      const fetch = rewindFetch(plain);
      const controller = new AbortController();
      const loser = fetch("http://host/loser", { signal: controller.signal });
      const winner = await Promise.race([loser, fetch("http://host/winner")]);
      controller.abort();
      await loser.catch(() => {});
      // A failure counts as handled if something starts after it.
      await journalCall({ kind: "step", name: "after", request: {} }, () => "aborted");
      return winner.text();
    };
    const { value, asked } = await resumed(program, async (source) => source.head("/winner"));
    expect(value).toBe("/winner 3");
    expect(asked).toEqual(["/loser", "/winner", "/winner"]);
  });

  it("without blocking other calls, which the request itself may wait for", async () => {
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
    let midDump: AgentSnapshot | undefined;
    const direction = async (): Promise<void> => {
      source.head("/slow");
      await settle();
      await settle();
      midDump = dumpSnapshot({ context });
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
    expect((await recorded(program, late, midDump)).value).toEqual(["gave up", "other"]);
  });

  it("unless it fails now", async () => {
    const source = manual();
    let fails = false;
    const respond: typeof globalThis.fetch = (input, init) =>
      fails ? Promise.reject(new TypeError("fetch failed")) : source.fetch(input, init);
    let context: ReturnType<typeof captureContext>;
    const program = async (): Promise<string> => {
      context = captureContext();
      const asked = rewindFetch(respond)("http://host/winner");
      const step = asked.then(
        () => journalCall({ kind: "step", name: "later", request: {} }, () => "step"),
        () => "no step",
      );
      const winner = await asked.catch(() => new Response("failed"));
      return `${await step}, ${await winner.text()}`;
    };
    let midDump: AgentSnapshot | undefined;
    const direction = async (): Promise<void> => {
      await settle();
      source.head("/winner");
      await settle();
      midDump = dumpSnapshot({ context });
      source.end("/winner");
    };
    expect((await recorded(program, direction)).value).toBe("step, /winner 1");
    fails = true;
    expect(await resume(program, { snapshot: midDump as AgentSnapshot })).toBe("no step, failed");
  });
});

it("a request that is sent again for its body has no position in the order until it is answered again", async () => {
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
  let midDump: AgentSnapshot | undefined;
  await recorded(program, async () => {
    await settle();
    source.head("/a");
    await settle();
    midDump = dumpSnapshot({ context });
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
    midDump,
  );
  expect(value).toEqual(["head of /b"]);
  for (const snapshot of snapshots) expect(await replay(program, { snapshot })).toEqual(value);
  expect(source.asked).toEqual(["/a", "/b", "/a", "/b"]);
});

describe("a response whose body was not read", () => {
  it("is not requested again when a run is resumed that was killed after the response", async () => {
    let liveCalls = 0;
    const fetch = rewindFetch(async () => new Response(`body ${++liveCalls}`, { status: 201 }));
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
    expect(liveCalls).toBe(1);
  });

  it("is requested again if part of the body had arrived when the run was killed", async () => {
    let liveCalls = 0;
    const fetch = rewindFetch(async () => {
      const status = liveCalls++ === 0 ? 200 : 429;
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

  it("keeps the position of its head when the request for the body fails", async () => {
    let liveCalls = 0;
    const fetch = rewindFetch(async () => {
      if (liveCalls++ > 0) throw new TypeError("the network is down");
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
    expect(liveCalls).toBe(1 + snapshots.length);
  });

  it("with an error status is not requested again if the program continued after it", async () => {
    let liveCalls = 0;
    const fetch = rewindFetch(async () => new Response("busy", { status: 503 + liveCalls++ }));
    const program = async (): Promise<number[]> => [
      (await fetch("http://host/a")).status,
      (await fetch("http://host/b")).status,
      await journalCall({ kind: "step", name: "next", request: {} }, () => 1),
    ];
    const { value, snapshots } = await recorded(program);
    expect(value).toEqual([503, 504, 1]);
    for (const snapshot of snapshots) expect(await resume(program, { snapshot })).toEqual(value);
    expect(liveCalls).toBe(2);
  });
});
