// Files of earlier versions are read, replayed and resumed as their own version did it.
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { AgentSnapshot } from "agent-rewind";
import { parseSnapshot, restoreSnapshot, restoreSnapshotFromFile, stringifySnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";

import { expectPassed, vitestProject } from "../support/vitest-project.js";
import { attemptOf, over, programs, type Outcome } from "./runs.js";

const corpus = fileURLToPath(new URL("../fixtures/recorded/", import.meta.url));
const versions = readdirSync(corpus);

/** Programs that were added later have no files of earlier versions. */
const recorded = versions.flatMap((version) =>
  programs
    .map((program) => ({ version, name: program.name, program, folder: join(corpus, version, "runs", program.name) }))
    .filter(({ folder }) => existsSync(folder))
    .map((program) => ({ ...program, flags: flagsOf(join(program.folder, "dump-end.json")) })),
);

function flagsOf(file: string): readonly number[] {
  return parseSnapshot(readFileSync(file)).recorder?.flags ?? [];
}

const outcomesOf = (folder: string): Record<string, Outcome & { replay: Outcome; resume: Outcome }> =>
  JSON.parse(readFileSync(join(folder, "outcomes.json"), "utf8")) as never;

it("has a program for each folder of the corpus", () => {
  const folders = versions.flatMap((version) => readdirSync(join(corpus, version, "runs")));
  expect(folders).toHaveLength(recorded.length);
  expect(folders.length).toBeGreaterThan(15);
});

describe.each(programs.filter(({ flag }) => flag !== undefined))("$name shows replay flag $flag:", ({ name, flag }) => {
  const all = recorded.filter((one) => one.name === name).toSorted((a, b) => a.flags.length - b.flags.length);
  const first = all.findIndex(({ flags }) => flags.includes(flag as number));

  it("the files from before it have another outcome", () => {
    const [before, after] = [all[first - 1], all[first]].map((one) => outcomesOf(one?.folder ?? "")["dump-end.json"]);
    expect(after).toBeDefined();
    expect(before).not.toEqual(after);
  });
});

describe.each(recorded)("$name of version $version", ({ program, folder, flags }) => {
  const read = (file: string): Buffer => readFileSync(join(folder, file));
  const outcomes = outcomesOf(folder);
  const files = readdirSync(folder);
  const snapshots = files.filter((file) => file.endsWith(".json") && file !== "outcomes.json");

  it.each(snapshots)("%s is replayed and resumed", async (file) => {
    const attempt = attemptOf(file);
    const snapshot = parseSnapshot(read(file));
    expect(await over(program, snapshot, "replay", attempt)).toEqual(outcomes[file]?.replay);
    expect(await over(program, parseSnapshot(read(file)), "resume", attempt)).toEqual(outcomes[file]?.resume);
  });

  it("replays to the recorded result without a live call", () => {
    const whole = snapshots.filter((file) => /^(?:dump-end|restored)(?:-\d)?\.json$/.test(file));
    expect(whole.length).toBeGreaterThanOrEqual(2);
    const isExact = program.goesLive !== true && (program.flag === undefined || flags.includes(program.flag));
    for (const file of isExact ? whole : []) {
      const { made: _made, ...ended } = outcomes[`run${/-\d(?=\.)/.exec(file)?.[0] ?? ""}`] as Outcome;
      expect(outcomes[file]?.replay).toEqual({ ...ended, made: [] });
    }
  });

  it.each(files.filter((file) => file.endsWith(".jsonl")))(
    "%s is restored to the snapshot that it was",
    async (file) => {
      const expected = content(
        parseSnapshot(
          read(file.replace("trace", "restored").replace("killed", "restored-killed").replace("jsonl", "json")),
        ),
      );
      expect(content(await restoreSnapshotFromFile(join(folder, file)))).toEqual(expected);
      expect(content(restoreSnapshot(read(file)))).toEqual(expected);
    },
  );

  /** Everything but the moment of the restoration, as this version writes it. */
  const content = (snapshot: AgentSnapshot): object => {
    const {
      timestamp: _timestamp,
      processId: _processId,
      ...rest
    } = JSON.parse(stringifySnapshot(snapshot)) as AgentSnapshot;
    return rest;
  };
});

it.each(versions.filter((version) => existsSync(join(corpus, version, "tests"))))(
  "recorded tests of version %s pass offline",
  { timeout: 120_000 },
  async (version) => {
    using project = vitestProject({});
    const folder = join(corpus, version, "tests");
    for (const name of readdirSync(folder)) cpSync(join(folder, name), join(project.folder, name), { recursive: true });
    const before = project.recordings();
    const run = await project.run({ env: { CI: "1" } });
    expectPassed(run);
    expect(Object.values(run.results).every((state) => state === "passed")).toBe(true);
    expect(Object.keys(run.results).length).toBeGreaterThan(10);
    expect(run.text).not.toContain("agent-rewind:");
    expect(project.recordings()).toEqual(before);
  },
);
