// Responses that are delivered before their bodies end, racing with other calls that end meanwhile.
import { journalCall, replay } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { describe, expect, it } from "vitest";

import { manual, recorded, settle } from "../support/manual-fetch.js";

describe("the first response head of two requests", () => {
  const fast = "http://host/fast";
  const slow = "http://host/slow";

  it("also wins on replay when the loser is cancelled before the winner's body has ended", async () => {
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

  it("also wins on replay when the loser is aborted meanwhile", async () => {
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

  it("and the two bodies keep their positions relative to each other and to other calls", async () => {
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
      // The recordings of a resumed run keep them too.
      const resumed = await recorded(program, async () => {}, snapshot);
      expect(resumed.value).toEqual(order);
      for (const again of resumed.snapshots) expect(await replay(program, { snapshot: again })).toEqual(order);
    }
    expect(source.asked).toHaveLength(2);
  });
});

it("a dump taken just when a body ends does not prevent recording the complete body", async () => {
  // The dump is taken at each of the microtasks between the end of the body and its journaling.
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
