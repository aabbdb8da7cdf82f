// How the programs of the corpus are recorded, replayed and resumed.
import { runWith, type AgentSnapshot, type EventSink } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";

import { failure, World, type Program } from "./program.js";
import { agentPrograms } from "./programs/agents.js";
import { callPrograms } from "./programs/calls.js";
import { contentPrograms } from "./programs/content.js";
import { rulePrograms } from "./programs/rules.js";
import { streamPrograms } from "./programs/streams.js";

export const programs: readonly Program[] = [
  ...callPrograms,
  ...contentPrograms,
  ...rulePrograms,
  ...agentPrograms,
  ...streamPrograms,
];

/** How a run ended, and the names of its live calls in alphabetical order. */
export interface Outcome {
  readonly result?: unknown;
  readonly error?: object;
  readonly made: readonly string[];
}

async function outcomeOf(world: World, run: Promise<unknown>): Promise<Outcome> {
  const ended = await run.then(
    (result) => ({ result }),
    (error: unknown) => ({ error: failure(error) }),
  );
  // Through JSON, as the expected one that it is compared to.
  return JSON.parse(JSON.stringify({ ...ended, made: world.made.toSorted() })) as Outcome;
}

export interface Recorded {
  readonly outcome: Outcome;
  readonly end: AgentSnapshot;
  readonly middle: AgentSnapshot;
}

/** Runs a program with dumps in the middle and at the end. */
export async function record(
  program: Program,
  options: { attempt?: number; snapshot?: AgentSnapshot; eventBus: EventSink; onMiddle?: () => void },
): Promise<Recorded> {
  const { attempt = 0, eventBus, onMiddle = () => {}, ...more } = options;
  const dumps: { end?: AgentSnapshot; middle?: AgentSnapshot } = {};
  const middle = (): void => {
    dumps.middle ??= dumpSnapshot({ metadata: { program: program.name, attempt } });
    onMiddle();
  };
  const world = new World({ attempt, middle });
  const run = runWith(() => program.run(world).finally(() => (dumps.end = dumpSnapshot())), {
    ...program.options?.(world),
    enableSnapshot: true,
    eventBus,
    ...more,
  });
  const outcome = await outcomeOf(world, run);
  const { end, middle: inMiddle } = dumps;
  if (end === undefined || inMiddle === undefined) throw new Error(`${program.name} has no middle or no end`);
  return { outcome, end, middle: inMiddle };
}

/** Runs a program over a snapshot. Resumed runs have their fault repaired. */
export function over(
  program: Program,
  snapshot: AgentSnapshot,
  mode: "replay" | "resume",
  attempt: number,
): Promise<Outcome> {
  const world = new World({ attempt, isRecorded: true, fixed: mode === "resume" });
  return outcomeOf(
    world,
    runWith(() => program.run(world), { ...program.options?.(world), enableSnapshot: true, snapshot, mode }),
  );
}

/** The attempt of the chain that a file of the corpus was recorded in. */
export const attemptOf = (file: string): number => Number(/-(\d)\.json/.exec(file)?.[1] ?? 0);
