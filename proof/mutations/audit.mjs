import { isReplayMissError, replay, runWith } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";

import { Random } from "../lib/random.mjs";
import { equivalents, kinds } from "./kinds.mjs";
import { Answers, run, specification } from "./subject.mjs";
import { otherText } from "./values.mjs";

/**
 * The results for the changes of one kind.
 *
 * @typedef {{ kind: string, tried: number, missed: number, answered: number, otherwise: number }} Row
 * @typedef {{ number: number, kind: string, where: string, what: string }} Failure
 */

/**
 * Changes the requests of a recorded program, in one place each time, and replays it from its recording.
 *
 * @param {{ mutations: number, seed: string | number, only?: number }} options
 * @returns {Promise<{ rows: Row[], same: { kind: string, tried: number, hit: number }[], failures: Failure[] }>} `rows`
 *   must always have missed, `same` must always have hit
 */
export async function audit({ mutations, seed, only }) {
  const snapshots = await recordings();
  const rows = new Map();
  const failures = [];
  const table = Object.fromEntries([...kinds, recordedMessage].map(({ weight = 1 }, index) => [index, weight]));
  for (let number = 0; number < mutations; number++) {
    const random = new Random(seed, "mutation", number);
    const kind = [...kinds, recordedMessage][number < kinds.length + 1 ? number : random.weighted(table)];
    if (only !== undefined && number !== only) continue;
    const spec = specification();
    const altered = { spec, snapshot: random.pick(snapshots)() };
    const where = kind.change(kind === recordedMessage ? altered : spec, random) ?? "";
    const row = rows.get(kind.name) ?? { kind: kind.name, tried: 0, missed: 0, answered: 0, otherwise: 0 };
    rows.set(kind.name, row);
    row.tried += 1;
    const what = await outcomeOf(altered);
    row[what.fate] += 1;
    if (what.fate !== "missed") failures.push({ number, kind: kind.name, where, what: what.text });
  }
  const same = [];
  for (const { name, change } of equivalents) {
    const row = { kind: name, tried: 0, hit: 0 };
    same.push(row);
    for (let number = 0; number < 10; number++) {
      const spec = specification();
      const random = new Random(seed, name, number);
      change(spec, random);
      row.tried += 1;
      const what = await outcomeOf({ spec, snapshot: random.pick(snapshots)() });
      if (what.fate === "answered") row.hit += 1;
      else failures.push({ number, kind: name, where: "", what: what.text });
    }
  }
  return { rows: [...rows.values()], same, failures };
}

/** The recording from the dump and the recording from a file. A fresh object each time. */
async function recordings() {
  const answers = new Answers();
  const text = await runWith(
    async () => {
      await run(specification(), answers);
      return stringifySnapshot(dumpSnapshot());
    },
    { enableSnapshot: true },
  );
  return [() => parseSnapshot(text), () => JSON.parse(text)];
}

/** Changes one character of an answer of the model or a tool, which is a message of the next turn. */
const recordedMessage = {
  name: "earlier message, recorded",
  weight: 3,
  change(altered, random) {
    const snapshot = structuredClone(altered.snapshot);
    altered.snapshot = snapshot;
    const [{ journal }] = Object.values(snapshot.root.children);
    if (random.chance(0.5)) {
      const turn = Object.values(journal.prompt).find(({ output }) => output.tool_calls !== undefined);
      turn.output.content = otherText(turn.output.content, random);
      return "what the model said";
    }
    const row = random.pick(Object.values(journal.tool).filter(({ output }) => output.sky !== undefined));
    row.output.sky = otherText(row.output.sky, random);
    return "what a tool gave";
  },
};

async function outcomeOf({ spec, snapshot }) {
  const answers = new Answers();
  try {
    const value = await replay(() => run(spec, answers), { snapshot, enableSnapshot: true });
    return { fate: "answered", text: `answered with ${JSON.stringify(value)}` };
  } catch (error) {
    if (answers.asked > 0) return { fate: "answered", text: `${answers.asked} calls were made` };
    if (isReplayMissError(error)) return { fate: "missed", text: error.message };
    return { fate: "otherwise", text: error.stack };
  }
}
