// A program: records the corpus of one version, or the named programs of it, into the folder that it is given.
// `scripts/record-fixtures.mjs` starts it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { AgentSnapshot } from "agent-rewind";
import { createTraceWriter, parseSnapshot, restoreSnapshotFromFile, stringifySnapshot } from "agent-rewind/debugger";

import type { Program } from "./program.js";
import { over, programs, record, type Outcome } from "./runs.js";

// Stacks would contain paths of the machine that records.
Error.stackTraceLimit = 0;

const [, , folder = "", ...names] = process.argv;

/** Writes a trace that breaks off inside the line after the one that was the last when the run was in its middle. */
function kill(path: string, killed: string, linesAtMiddle: number): void {
  const lines = readFileSync(path, "utf8").split("\n");
  const next = lines[linesAtMiddle] ?? "";
  writeFileSync(killed, `${lines.slice(0, linesAtMiddle).join("\n")}\n${next.slice(0, next.length / 2)}`);
}

async function recordProgram(program: Program): Promise<void> {
  const own = join(folder, program.name);
  mkdirSync(own, { recursive: true });
  const write = (file: string, text: string | Uint8Array): void => writeFileSync(join(own, file), text);
  const outcomes: Record<string, unknown> = {};
  const keep = async (file: string, snapshot: AgentSnapshot, attempt = 0): Promise<void> => {
    write(file, stringifySnapshot(snapshot));
    const text = readFileSync(join(own, file));
    const outcome = async (mode: "replay" | "resume"): Promise<Outcome> =>
      over(program, parseSnapshot(text), mode, attempt);
    outcomes[file] = { replay: await outcome("replay"), resume: await outcome("resume") };
  };

  let before: AgentSnapshot | undefined;
  for (let attempt = 0; attempt <= (program.resumes ?? 0); attempt++) {
    const suffix = attempt === 0 ? "" : `-${attempt}`;
    const trace = join(own, `trace${suffix}.jsonl`);
    const writer = createTraceWriter(trace);
    let lines = 0;
    let linesAtMiddle = 0;
    const { outcome, end, middle } = await record(program, {
      attempt,
      ...(before === undefined ? {} : { snapshot: before }),
      eventBus: { emit: (event) => (writer.emit(event), (lines += 1)) },
      onMiddle: () => (linesAtMiddle ||= lines),
    });
    await writer.close();
    outcomes[`run${suffix}`] = outcome;
    await keep(`dump-middle${suffix}.json`, middle, attempt);
    await keep(`dump-end${suffix}.json`, end, attempt);
    await keep(`restored${suffix}.json`, await restoreSnapshotFromFile(trace), attempt);
    const killed = join(own, `killed${suffix}.jsonl`);
    kill(trace, killed, linesAtMiddle);
    await keep(`restored-killed${suffix}.json`, await restoreSnapshotFromFile(killed), attempt);
    before = program.resumesEnd === true ? end : middle;
  }
  if (program.edit !== undefined) {
    await keep("dump-edited.json", program.edit(parseSnapshot(readFileSync(join(own, "dump-end.json")))));
  }
  write("outcomes.json", `${JSON.stringify(outcomes, null, 1)}\n`);
}

for (const program of programs.filter(({ name }) => names.length === 0 || names.includes(name))) {
  console.log(`  ${program.name}`);
  await recordProgram(program);
}
