// The shapes that a program holds.

const PARALLEL = new Set(["par", "spawn"]);

/** Names of shapes, and whether a program has them. Each is `(step, around) => boolean` for one of its steps. */
const SHAPES = {
  "calls in calls": ({ inner, op }) => inner !== undefined && op !== "nested",
  "frames in calls": ({ op }, around) => ["frame", "agent"].includes(op) && around.some(({ inner }) => inner),
  "class instances": ({ what, input }) =>
    ["human", "bot", "nested", "money"].includes((what?.with ?? input?.with)?.[0]),
  "bytes and other content": ({ what, input, plan }) =>
    plan?.body !== undefined ||
    !["human", "bot", "nested", "money", "callback", "secret", undefined].includes((what?.with ?? input?.with)?.[0]),
  "content in results": ({ plan }) => plan?.gives !== undefined && plan.gives !== "up",
  "results and requests that cannot be kept": ({ what, plan }) =>
    plan?.gives === "instance" || ["callback", "secret"].includes(what?.with?.[0]),
  "attempts in parallel": ({ plan }, around) => plan?.tries?.length > 1 && around.some(({ op }) => PARALLEL.has(op)),
  "branches with frames": ({ op, branches }) => op === "par" && JSON.stringify(branches).includes('"op":"frame"'),
  "branches without frames": ({ op, branches }) => op === "par" && !JSON.stringify(branches).includes('"op":"frame"'),
  all: ({ how, op }) => op === "par" && how === "all",
  allSettled: ({ how }) => how === "settled",
  race: ({ how }) => how === "race",
  any: ({ how }) => how === "any",
  hedges: ({ how, branches }) => how === "race" && branches[1]?.length === 2 && isEqual(branches[0][0], branches[1][1]),
  "equal frames": ({ op, id }) => op === "frame" && id === "twin",
  "spawned work": ({ op }) => op === "spawn",
  "work that outlives its frame": (step, around) => around.some(({ op }) => op === "frame") && goesOn(step),
  "ends in one turn": ({ nest }) => nest !== undefined,
  "nested runs": ({ op }) => op === "nested",
  aborts: ({ op }) => op === "abort",
  "agents that start over": ({ lives }) => lives?.length > 1,
  "agents with a model": ({ op }) => op === "agent",
  "failures caught": ({ op, how }) => op === "guard" && how === "catch",
  "failures in .then": ({ op, how }) => op === "guard" && how === "then",
  "failures tried again by the program": ({ op }) => op === "again",
  "failures in branches": ({ plan }, around) => fails(plan) && around.some(({ op }) => op === "par"),
  "failures in frames": ({ plan }, around) => fails(plan) && around.some(({ op }) => op === "frame"),
  "failures that end the run": ({ plan }) => plan?.fail === "once",
  "failures with fields, causes, classes": ({ plan }) => plan?.throws !== undefined && plan.throws !== "plain",
  "equal requests in other order": ({ op, branches }) =>
    op === "par" && branches.some(([first, second]) => first.op === "sleep" && second?.plan?.ms > 60),
  "frames aborted by their frame": ({ what }, around) =>
    what?.q.startsWith("slow") && around.filter(({ op }) => op === "frame").length > 1,
  "frames that ignore their abort": ({ plan }) => plan?.deaf,
  "awaited later": ({ op }) => op === "early",
  loops: ({ op }) => op === "loop",
  "HTTP clients": ({ op }) => op === "http",
  streams: ({ op }) => op === "stream",
};

const isEqual = (one, other) => one.op === other.op && JSON.stringify(one.what) === JSON.stringify(other.what);

/** Something in this step can go on after the step. */
function goesOn({ op, how, branches }) {
  if (op === "spawn" || how === "race" || how === "any") return true;
  return op === "par" && how === "all" && /"fail":|"gives":"up"/.test(JSON.stringify(branches));
}

const fails = (plan) => plan?.fail === "always" || plan?.gives === "up";

/** All steps, each with the steps around it. */
export function* walk(steps, around = []) {
  for (const step of steps) {
    yield [step, around];
    const inside = [...around, step];
    const lists = [step.body, step.fallback, step.between, step.inner, ...(step.branches ?? []), ...(step.lives ?? [])];
    for (const list of lists) if (list !== undefined) yield* walk(list, inside);
    if (step.op === "abort") yield* walk([step.slow, step.quick], inside);
  }
}

/** @returns {string[]} */
export function shapesOf(program) {
  const found = new Set();
  const requests = new Map();
  for (const [step, around] of walk(program.steps)) {
    for (const [name, has] of Object.entries(SHAPES)) if (has(step, around)) found.add(name);
    if (step.what !== undefined && !step.what.prev) {
      const key = JSON.stringify([step.op, step.what]);
      requests.set(key, (requests.get(key) ?? 0) + 1);
    }
  }
  if ([...requests.values()].some((count) => count > 1)) found.add("equal requests");
  if (program.awaits > 0) found.add("clients that await first");
  if (program.returned !== undefined) found.add("streams that a run returns");
  return [...found];
}

export const allShapes = [
  ...Object.keys(SHAPES),
  "equal requests",
  "clients that await first",
  "streams that a run returns",
];
