// A recording is replayed by the rules that it was made under, and what is added to it is recorded by them too.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseSnapshot as parseBuilt } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";

import {
  collectTrace,
  dumpSnapshot,
  forkSnapshot,
  parseSnapshot,
  restoreSnapshot,
  stringifySnapshot,
} from "../ts/debugger.js";
import { journalCall, replay, resume, runFrame, runWith } from "../ts/index.js";
import type { AgentSnapshot, Miss, NormalizeRule, Recorder, ReplayReport } from "../ts/index.js";
import { RecordingSession } from "../ts/runtime/run/recording-session.js";
import { readRecording, recordingText, writeRecording, type RecordingPaths } from "../ts/recording/files.js";
import { cli } from "./cli/support.js";
import { over, programs } from "./recorded/runs.js";
import { temporaryFolder } from "./support/process.js";

const CURRENT: Recorder = {
  version: (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as Recorder).version,
  flags: [1, 2, 3, 4, 5, 6, 7],
};
const NO_FLAGS: Recorder = { ...CURRENT, flags: [] };

class Query {
  readonly #topic: string;

  constructor(topic: string) {
    this.#topic = topic;
  }

  read(): string {
    return this.#topic;
  }
}

/** Two requests that their hash cannot tell apart, and one that it covers. */
async function program(answer: (name: string) => unknown = (name) => name): Promise<unknown[]> {
  const ask = (name: string, request: unknown): Promise<unknown> =>
    journalCall({ kind: "step", name: "ask", request }, () => answer(name));
  return [
    await ask("moths", { query: new Query("moths") }),
    await ask("bees", { query: new Query("bees") }),
    await ask("exact", { query: "moths" }),
  ];
}

const dumpOf = (run: () => Promise<unknown>): Promise<AgentSnapshot> => runWith(() => run().then(() => dumpSnapshot()));

const copyOf = (snapshot: AgentSnapshot): AgentSnapshot => parseSnapshot(stringifySnapshot(snapshot));

/** As a version without replay flags wrote it. */
function withoutRecorder(snapshot: AgentSnapshot): AgentSnapshot {
  const { recorder: _recorder, ...old } = copyOf(snapshot);
  return parseSnapshot(JSON.stringify(old));
}

function inRecording<T>(snapshot: AgentSnapshot, fn: (paths: RecordingPaths) => T): T {
  const folder = temporaryFolder();
  const paths = { main: join(folder, "a.jsonl"), timing: join(folder, "a.timing.jsonl"), blobs: join(folder, "files") };
  try {
    writeRecording(paths, recordingText(snapshot, "flags", []));
    return fn(paths);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const throughRecording = (snapshot: AgentSnapshot): AgentSnapshot =>
  inRecording(snapshot, (paths) => readRecording(paths) as AgentSnapshot);

/** The recording of a test that makes one run. */
async function recordedTest(run: () => Promise<unknown>, snapshot?: AgentSnapshot): Promise<AgentSnapshot> {
  const session = new RecordingSession({ snapshot, mode: snapshot === undefined ? "live" : "resume" });
  try {
    await session.context.run(() => runWith(() => run()));
    return await session.finish();
  } finally {
    session.close();
  }
}

const FORMS: [name: string, form: (snapshot: AgentSnapshot) => AgentSnapshot][] = [
  ["the dump", (snapshot) => snapshot],
  ["its JSON", copyOf],
  ["a fork", (snapshot) => forkSnapshot(snapshot, { at: "root/step:ask:2", output: "exact" })],
  ["a recording", throughRecording],
];

describe("the recorder", () => {
  it.each(FORMS)("is kept by %s", async (_name, form) => {
    const now = await dumpOf(program);
    expect(form(now).recorder).toEqual(CURRENT);
    expect(form(withoutRecorder(now)).recorder).toBeUndefined();
    const resumed = await resume(() => program().then(() => dumpSnapshot()), { snapshot: withoutRecorder(now) });
    expect(form(resumed).recorder).toEqual(NO_FLAGS);
  });

  it("is kept by a trace, also of an agent that is called without a run", async () => {
    const snapshot = await dumpOf(program);
    const recorders: unknown[] = [];
    for (const run of [
      () => runWith(() => program()),
      () => runFrame({ id: "alone", input: {} }, () => program()),
      () => resume(() => program(), { snapshot: withoutRecorder(snapshot) }),
    ]) {
      const trace = collectTrace();
      await run();
      recorders.push(restoreSnapshot(trace.stop()).recorder);
    }
    expect(recorders).toEqual([CURRENT, CURRENT, NO_FLAGS]);
  });

  it("of a re-recorded test is that of the recording that it resumes", async () => {
    const record = async (snapshot?: AgentSnapshot): Promise<Recorder | undefined> =>
      throughRecording(await recordedTest(program, snapshot)).recorder;
    expect(await record()).toEqual(CURRENT);
    const old = withoutRecorder(await dumpOf(program));
    expect(await record(old)).toEqual(NO_FLAGS);
    expect(await record(copyOf(await dumpOf(program)))).toEqual(CURRENT);
  });

  it("is shown by inspect --json", async () => {
    const folder = temporaryFolder();
    try {
      const file = join(folder, "snapshot.json");
      writeFileSync(file, stringifySnapshot(await dumpOf(program)));
      expect(JSON.parse(cli(["inspect", "--json", file]).out)).toMatchObject({ recorder: CURRENT });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("has the flags that the documentation describes", () => {
    const page = readFileSync(new URL("../docs/replay.md", import.meta.url), "utf8");
    const rows = page.slice(page.indexOf("## Flags"), page.indexOf("## Limits")).matchAll(/^\| (\d+) \| (\S+) \|/gm);
    expect(Array.from(rows, ([, number]) => Number(number))).toEqual(CURRENT.flags);
  });
});

describe("a flag of a newer version", () => {
  const newer = /unknown replay flag 31: .* update agent-rewind/;
  const withFlag = (recorder: unknown): Recorder => ({ ...(recorder as Recorder), flags: [...CURRENT.flags, 31] });

  it("is refused in a snapshot", async () => {
    const snapshot = copyOf(await dumpOf(program));
    snapshot.recorder = withFlag(snapshot.recorder);
    const fault = { path: `recorder.flags.${CURRENT.flags.length}`, message: expect.stringMatching(newer) as string };
    const error = { name: "InvalidSnapshotError", faults: [fault] };
    await expect(replay(() => program(), { snapshot })).rejects.toMatchObject(error);
    const text = JSON.stringify(snapshot);
    expect(() => parseSnapshot(text)).toThrow(expect.objectContaining(error));
  });

  it("is refused in a trace", async () => {
    const trace = collectTrace();
    await runWith(() => program());
    const events = trace.stop();
    const [start] = events;
    if (start?.type !== "runWith:start") throw new Error("the first event is the start of the run");
    start.recorder = withFlag(start.recorder);
    const error = { name: "RestoreError", path: `runWith:start.recorder.flags.${CURRENT.flags.length}` };
    expect(() => restoreSnapshot(events)).toThrow(expect.objectContaining(error));
    expect(() => restoreSnapshot(events.map((event) => JSON.stringify(event)).join("\n"))).toThrow(newer);
  });

  it("is refused in a recording", async () => {
    inRecording(await dumpOf(program), (paths) => {
      const text = readFileSync(paths.main, "utf8");
      writeFileSync(paths.main, text.replace(JSON.stringify(CURRENT.flags), JSON.stringify([...CURRENT.flags, 31])));
      expect(() => readRecording(paths)).toThrow(expect.objectContaining({ name: "InvalidRecordingError", line: 1 }));
      expect(() => readRecording(paths)).toThrow(newer);
    });
  });
});

describe("flag 1", () => {
  const inexact = [
    { callId: "root/step:ask:0", reason: "/query: instance of Query" },
    { callId: "root/step:ask:1", reason: "/query: instance of Query" },
  ];
  /** With flag 5. */
  const now = inexact.map(({ callId, reason }) => ({
    callId,
    reason: `${reason}: the source text of Query has a sign of private members, "#t"`,
  }));

  it("makes an inexact request a miss that says why", async () => {
    const snapshot = copyOf(await dumpOf(program));
    const reports: ReplayReport[] = [];
    const onReport = (report: ReplayReport): void => void reports.push(report);
    const error = await replay(() => program(), { snapshot, onReport }).catch((caught: unknown) => caught);
    const [first] = now;
    expect(error).toMatchObject({ name: "ReplayMissError", reason: "inexact", inexact: first?.reason, flag: 1 });
    expect((error as Error).message).toMatch(/Replay flag 1 of the recording forbids an answer\.$/);
    expect(reports).toMatchObject([{ withheld: [{ ...first, flag: 1 }], inexact: [] }]);
    expect((error as Error).message).toMatch(/does not cover \(\/query: instance of Query: .*#t"\)\. Pass plain data/);
  });

  it("executes it on resume, and carries nothing over next to it", async () => {
    const snapshot = copyOf(await dumpOf(program));
    const misses: Miss[] = [];
    const reports: ReplayReport[] = [];
    const again = await resume(
      async () => {
        const results = await program((name) => `new ${name}`);
        return { results, dump: dumpSnapshot() };
      },
      {
        snapshot,
        onMiss: (miss) => (misses.push(miss), "live"),
        onReport: (report) => void reports.push(report),
      },
    );
    expect(again.results).toEqual(["new moths", "new bees", "exact"]);
    expect(JSON.parse(JSON.stringify(misses))).toMatchObject(
      now.map(({ callId, reason }) => ({ callId, reason: "inexact", inexact: reason, flag: 1 })),
    );
    expect(reports).toMatchObject([
      { replayed: 1, live: 2, inexact: [], withheld: now.map((call) => ({ ...call, flag: 1 })) },
    ]);
    expect(again.dump.root.calls).toHaveLength(3);
  });

  it("is not asked where the recording does not have it, and the report lists what was answered", async () => {
    const snapshot = withoutRecorder(await dumpOf(program));
    const reports: ReplayReport[] = [];
    const onReport = (report: ReplayReport): void => void reports.push(report);
    expect(await replay(() => program(), { snapshot, onReport })).toEqual(["moths", "bees", "exact"]);
    expect(reports).toMatchObject([{ replayed: 3, live: 0, inexact, withheld: [] }]);
  });

  it("is not in force for what is added to a recording without it", async () => {
    const half = withoutRecorder(
      await runWith(() => journalCall({ kind: "step", name: "other", request: 1 }, () => 1).then(() => dumpSnapshot())),
    );
    const dump = await resume(() => program().then(() => dumpSnapshot()), { snapshot: half });
    expect(await replay(() => program(), { snapshot: copyOf(dump) })).toEqual(["moths", "bees", "exact"]);
  });

  it("accepts a request whose inexact part is excluded from its hash", async () => {
    const ask = (onProgress: () => void): Promise<unknown> =>
      journalCall({ kind: "step", name: "ask", request: { topic: "moths", onProgress } }, () => "moths");
    const normalize: NormalizeRule[] = [{ id: "callbacks", pointer: "/input/onProgress" }];
    const snapshot = await runWith(() => ask(() => {}).then(() => dumpSnapshot()), { normalize });
    const options = { snapshot: copyOf(snapshot), normalize };
    expect(await replay(() => ask(() => {}), options)).toBe("moths");
    const elsewhere: NormalizeRule[] = [{ id: "callbacks", pointer: "/input/topic" }];
    await expect(replay(() => ask(() => {}), { snapshot, normalize: elsewhere })).rejects.toMatchObject({
      reason: "inexact",
    });
  });

  it("is asked of each of two sources by its own rules", async () => {
    const made: string[] = [];
    const answer = (name: string): string => (made.push(name), `live ${name}`);
    const run = async (own: AgentSnapshot, outer: AgentSnapshot): Promise<unknown> => {
      made.length = 0;
      const session = new RecordingSession({ snapshot: outer, mode: "resume" });
      try {
        return await session.context.run(() => runWith(() => program(answer), { snapshot: own }));
      } finally {
        session.close();
      }
    };
    const own = copyOf(await dumpOf(() => program((name) => `own ${name}`)));
    const outer = throughRecording(await recordedTest(() => program((name) => `outer ${name}`)));
    const recorded = ["own moths", "own bees", "own exact"];
    expect(await run(withoutRecorder(own), outer)).toEqual(recorded);
    expect(made).toEqual([]);
    // The own snapshot refuses what the recording of the test answers.
    expect(await run(own, withoutRecorder(outer))).toEqual(["outer moths", "outer bees", "own exact"]);
    expect(made).toEqual([]);
    expect(await run(own, outer)).toEqual(["live moths", "live bees", "own exact"]);
    expect(made).toEqual(["moths", "bees"]);
  });
});

/** Recordings from before a flag and with it. A resumed run has its fault repaired. */
/** The replay of a program that was recorded before a flag and with it. A resumed run has its fault repaired. */
const RULES: Record<
  number,
  {
    program: string;
    mode?: "resume";
    before: [folder: string, outcome: object];
    with: [folder: string, outcome: object];
  }
> = {
  2: {
    program: "inner-calls",
    before: ["flag-1", { result: { step: [1, 2], own: 1, counted: { inside: 4 }, frame: 4, last: 2 } }],
    with: ["flag-2", { result: { step: [1, 2], own: 3, counted: { inside: 4 }, frame: 5, last: 6 } }],
  },
  3: {
    program: "own-attempts",
    before: ["flag-2", { result: ["the first", "the first", "end"] }],
    with: ["flag-4", { result: ["the first", "the second", "end"] }],
  },
  4: {
    program: "shared-ticks",
    before: ["flag-2", { result: ["far", "near"] }],
    with: ["flag-4", { result: ["near", "near"] }],
  },
  5: {
    program: "equal-props",
    before: ["flag-4", { result: { rain: "rain", snow: "snow" } }],
    with: ["flag-5", { error: { name: "ReplayMissError", reason: "inexact" } }],
  },
  6: {
    program: "seen-failures",
    mode: "resume",
    before: ["flag-5", { error: { name: "RangeError", message: "upstream 503" } }],
    with: ["flag-6", { result: ["repaired", "one two", "end"] }],
  },
};

describe.each(Object.entries(RULES))("flag %s", (flag, { program: name, mode, before, with: now }) => {
  const recorded = programs.find((one) => one.name === name);

  it.each([
    ["recordings from before it keep the old rule", before, false],
    ["recordings with it have the new rule", now, true],
  ] as const)("%s", async (_case, [folder, outcome], isSet) => {
    if (recorded === undefined) throw new Error(`there is no program ${name}`);
    const file = new URL(`fixtures/recorded/0.1.0-${folder}/runs/${name}/dump-end.json`, import.meta.url);
    const snapshot = parseSnapshot(readFileSync(file));
    expect(snapshot.recorder?.flags.includes(Number(flag))).toBe(isSet);
    for (const form of [copyOf, throughRecording, (one: AgentSnapshot) => throughRecording(throughRecording(one))]) {
      // The programs import the built package, which has its own snapshot objects.
      const built = parseBuilt(stringifySnapshot(form(snapshot)));
      expect(await over(recorded, built, mode ?? "replay", 0)).toMatchObject(outcome);
    }
  });
});
