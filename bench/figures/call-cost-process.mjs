import { pathToFileURL } from "node:url";

import { measure } from "../lib/measure.mjs";

const CALLS = 1000;
const DEPTH = 37;
const settled = Promise.resolve();

/** Milliseconds of single calls, or of many awaits, with the build of the package in the folder `root`. */
export default async function run({ root, seconds, awaits }) {
  const { journalCall, runWith } = await import(pathToFileURL(`${root}/dist/index.mjs`).href);
  const call = (index) => journalCall({ kind: "step", name: "ask", request: { index } }, async () => "answer");
  const sequential = async () => {
    for (let index = 0; index < CALLS; index++) await call(index);
  };
  const pairs = async () => {
    for (let index = 0; index < CALLS / 2; index++) await Promise.all([call(index), call(index)]);
  };
  const awaiting = async () => {
    for (let index = 0; index < awaits; index++) await settled;
  };
  const recording = (program) => () => runWith(program, { enableSnapshot: true });
  const work = (units, program) => ({ units, before: () => {}, run: program });
  const calls = {
    alone: work(CALLS, recording(sequential)),
    deep: work(CALLS, () => recording(() => below(DEPTH, sequential))()),
    together: work(CALLS, () => recording(() => below(DEPTH, pairs))()),
  };
  // The hooks of AsyncLocalStorage stay active once a run has started.
  const many = { inside: work(1, recording(awaiting)), outside: work(1, awaiting) };
  await runWith(() => call(0));
  return measure(awaits === undefined ? calls : many, { seconds, atMost: 1000 });
}

/** Calls `fn` from below some async functions that await each other. With the functions of the program, about 40. */
async function below(depth, fn) {
  if (depth === 0) {
    await settled;
    await fn();
  } else await below(depth - 1, fn);
}
