// The functions that wait for equal requests distinguish them if they are open together.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import {
  journalCall,
  replay,
  resume,
  runFrame,
  runWith,
  type AgentSnapshot,
  type ReplayReport,
  type TraceEvent,
} from "agent-rewind";
import { dumpSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";

import { deferred, turn } from "../support/deferred.js";

import { sleep, until } from "../support/deferred.js";

const SEEDS = [1, 2, 3, 4, 5, 6];

/** Different delays in each run, from a seed. */
function delays(seed: number): () => Promise<void> {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return sleep(state % 12);
  };
}

async function read<Part>(stream: AsyncIterable<Part>): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

let made = 0;
const ask = (): Promise<string> =>
  journalCall({ kind: "chat", name: "m", request: { q: "the same" } }, async () => {
    const number = made++;
    // Longer than all delays, so that the calls are open together.
    await sleep(20);
    return `answer ${number}`;
  });

type Program = (pause: () => Promise<void>) => Promise<unknown>;

async function recorded(program: Program, seed: number): Promise<{ live: unknown; snapshots: AgentSnapshot[] }> {
  const events: TraceEvent[] = [];
  let dump: AgentSnapshot | undefined;
  const live = await runWith(
    async () => {
      const result = await program(delays(seed));
      dump = parseSnapshot(stringifySnapshot(dumpSnapshot()));
      return result;
    },
    { eventBus: { emit: (event) => void events.push(event) } },
  );
  return { live, snapshots: [dump as AgentSnapshot, restoreSnapshot(events)] };
}

async function expectAsLive(program: Program, seed: number): Promise<void> {
  const { live, snapshots } = await recorded(program, seed);
  for (const snapshot of snapshots) {
    expect(await replay(() => program(delays(seed + 100)), { snapshot })).toEqual(live);
    let report: ReplayReport | undefined;
    const onReport = (given: ReplayReport): void => void (report = given);
    expect(await resume(() => program(delays(seed + 200)), { snapshot, onReport })).toEqual(live);
    expect(report?.live).toBe(0);
  }
}

const branch = async (pause: () => Promise<void>): Promise<string> => {
  await pause();
  return await ask();
};

async function left(pause: () => Promise<void>): Promise<string> {
  await pause();
  return await ask();
}

async function right(pause: () => Promise<void>): Promise<string> {
  await pause();
  return await ask();
}

const SHAPES: Record<string, Program> = {
  "Promise.all of one function": async function main(pause) {
    return await Promise.all([branch(pause), branch(pause), branch(pause)]);
  },
  "Promise.allSettled": async function main(pause) {
    return await Promise.allSettled([branch(pause), branch(pause), branch(pause)]);
  },
  "nested Promise.all": async function main(pause) {
    const pair = async (): Promise<string[]> => await Promise.all([branch(pause), branch(pause)]);
    return await Promise.all([pair(), pair()]);
  },
  "functions with different names": async function main(pause) {
    const both = [left(pause), right(pause)];
    await Promise.race(both);
    return await Promise.all(both);
  },
  "branches in a frame": (pause) =>
    runFrame({ id: "inner", input: {} }, async () => Promise.all([branch(pause), branch(pause)])),
  "two rounds": async (pause) => {
    const round = async (): Promise<string[]> => await Promise.all([branch(pause), branch(pause)]);
    return [await round(), await ask(), await round()];
  },
};

describe.each(SEEDS)("with delays from seed %i", (seed) => {
  it.concurrent.each(Object.entries(SHAPES))("%s", async (_name, program) => expectAsLive(program, seed));
});

describe("branches that run while a returned stream is read", () => {
  const streams = {
    "an async generator": (parts: AsyncGenerator<string[]>) => parts,
    "a ReadableStream": (parts: AsyncGenerator<string[]>) =>
      new ReadableStream<string[]>(
        {
          async pull(controller) {
            const { done, value } = await parts.next();
            if (done === true) controller.close();
            else controller.enqueue(value);
          },
        },
        // Work of a stream before somebody reads it has no lanes.
        { highWaterMark: 0 },
      ),
  };

  it.each(Object.entries(streams))("%s", async (_name, streamOf) => {
    const asked = deferred();
    let count = 0;
    const askBoth = (): Promise<string> =>
      journalCall({ kind: "chat", name: "m", request: { q: "the same" } }, async () => {
        const number = count++;
        if (number === 1) asked.resolve();
        await asked.promise;
        return `answer ${number}`;
      });
    /** The second branch starts first if `reversed`. */
    const program = (reversed: boolean) => () =>
      streamOf(
        (async function* parts() {
          const starts = [deferred(), deferred()];
          const task = async (start: Promise<void>): Promise<string> => {
            await start;
            return await askBoth();
          };
          void (async () => {
            for (const start of reversed ? starts.toReversed() : starts) {
              await turn();
              start.resolve();
            }
          })();
          yield await Promise.all(starts.map(async ({ promise }) => await task(promise)));
        })(),
      );
    let snapshot!: AgentSnapshot;
    const live = await runWith(program(false), { onEnd: () => void (snapshot = dumpSnapshot()) });
    expect(await read(live)).toEqual([["answer 0", "answer 1"]]);
    expect(await read(await replay(program(true), { snapshot }))).toEqual([["answer 0", "answer 1"]]);
  });
});

it("calls that start without a pause are answered in the order of their starts", async () => {
  await expectAsLive(() => Promise.all([ask(), ask(), ask()]), 1);
});

it("another function may start the program", async () => {
  const program: Program = (pause) => Promise.all([branch(pause), branch(pause), branch(pause)]);
  const { live, snapshots } = await recorded(async (pause) => await program(pause), 3);
  for (const snapshot of snapshots) {
    for (const seed of SEEDS) {
      expect(await replay(() => program(delays(seed)), { snapshot })).toEqual(live);
      expect(await replay(async () => await program(delays(seed)), { snapshot })).toEqual(live);
    }
  }
});

it("calls that were in flight keep their places", async () => {
  const hanging = (number: number): Promise<string> =>
    journalCall({ kind: "chat", name: "m", request: {} }, async () => {
      if (killed && number === missing) {
        started += 1;
        await new Promise<void>(() => {});
      }
      // Longer than all delays, so that the calls are open together.
      await sleep(20);
      started += 1;
      return `answer ${number}`;
    });
  let killed = false;
  let missing = 0;
  let started = 0;
  // Two have answered, and the third one is in flight.
  const twoAnswered = async (): Promise<void> => {
    await until(() => started === 3);
    await sleep(1);
  };
  const task = async (number: number, pause: () => Promise<void>): Promise<string> => {
    await pause();
    return await hanging(number);
  };
  for (missing of [0, 1, 2]) {
    for (const pauses of [() => Promise.resolve(), delays(missing + 1)]) {
      killed = true;
      started = 0;
      const events: TraceEvent[] = [];
      let dump: AgentSnapshot | undefined;
      const run = runWith(
        async () => {
          void twoAnswered().then(() => (dump = dumpSnapshot()));
          return await Promise.all([0, 1, 2].map(async (number) => await task(number, pauses)));
        },
        { eventBus: { emit: (event) => void events.push(event) } },
      );
      void run;
      await until(() => dump !== undefined);
      killed = false;
      for (const snapshot of [dump as AgentSnapshot, restoreSnapshot(events)]) {
        const again = resume(
          async () => await Promise.all([0, 1, 2].map(async (number) => await task(number, delays(number + 7)))),
          { snapshot },
        );
        expect(await again).toEqual(["answer 0", "answer 1", "answer 2"]);
      }
    }
  }
});

it("only calls that are open together have lanes", async () => {
  const { snapshots } = await recorded(async function main() {
    await ask();
    await Promise.all([branch(delays(1)), branch(delays(2))]);
  }, 1);
  for (const { root } of snapshots) {
    expect(root.calls?.[0]).not.toHaveProperty("lane");
    const lanes = root.calls?.slice(1).map(({ lane }) => lane ?? "");
    expect(lanes?.toSorted()).toEqual([
      expect.stringMatching(/^ask < branch < all\[0\] < main/),
      expect.stringMatching(/^ask < branch < all\[1\] < main/),
    ]);
  }
});

describe("without stacks", () => {
  const program = `
    import { journalCall, replay, runWith } from "agent-rewind";
    import { dumpSnapshot } from "agent-rewind/debugger";
    if (process.argv[1] === "freeze") Object.freeze(Error);
    const ask = () => journalCall({ kind: "k", name: "n", request: {} }, async () => made++);
    let made = 0;
    const program = () => Promise.all([ask(), ask()]);
    let snapshot;
    const live = await runWith(async () => { const result = await program(); snapshot = dumpSnapshot(); return result; });
    console.log(JSON.stringify([live, await replay(program, { snapshot })]));
  `;
  it.each([
    ["--no-async-stack-traces", ""],
    ["--frozen-intrinsics", ""],
    ["--stack-trace-limit=0", "freeze"],
  ])("nothing fails: %s %s", async (flag, argument) => {
    const cwd = fileURLToPath(new URL("../../", import.meta.url));
    const args = [flag, "--input-type=module", "-e", program, argument];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd });
    expect(stdout).toBe("[[0,1],[0,1]]\n");
  });
});
