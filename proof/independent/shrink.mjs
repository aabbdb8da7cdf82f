// Makes a failing program smaller.

/** Smaller programs, the most different first. */
function* smaller(program) {
  if (program.awaits > 0) yield { ...program, awaits: 0 };
  for (const steps of fewer(program.steps)) if (steps.length > 0) yield { ...program, steps };
}

const LISTS = ["body", "fallback", "between"];

/** Lists with one step less, or with one of its steps smaller or replaced by what it contains. */
function* fewer(steps) {
  for (let index = 0; index < steps.length; index++) yield steps.toSpliced(index, 1);
  for (const [index, step] of steps.entries()) {
    for (const inside of insides(step)) yield steps.toSpliced(index, 1, ...inside);
    for (const other of simpler(step)) yield steps.with(index, other);
  }
}

function insides(step) {
  if (step.op === "abort" || step.op === "early" || step.op === "agent") return [];
  return [...LISTS.map((key) => step[key]), step.inner, ...(step.branches ?? []), ...(step.lives ?? [])].filter(
    (list) => list?.length > 0,
  );
}

function* simpler(step) {
  for (const key of LISTS) {
    if (step[key] === undefined) continue;
    for (const list of fewer(step[key])) if (list.length > 0 || key !== "body") yield { ...step, [key]: list };
  }
  if (step.inner !== undefined) {
    if (step.op !== "agent" && step.op !== "nested") {
      const { inner: _, ...rest } = step;
      yield rest;
    }
    for (const inner of fewer(step.inner)) if (inner.length > 0) yield { ...step, inner };
  }
  for (const key of ["branches", "lives"]) {
    const lists = step[key];
    if (lists === undefined) continue;
    if (lists.length > 1) {
      for (let index = 0; index < lists.length; index++)
        yield { ...step, [key]: lists.toSpliced(index, 1), ...(step.nest && { nest: step.nest.toSpliced(index, 1) }) };
    }
    for (const [index, list] of lists.entries()) {
      for (const other of fewer(list)) if (other.length > 0) yield { ...step, [key]: lists.with(index, other) };
    }
  }
  if (step.what?.with !== undefined) yield { ...step, what: { ...step.what, with: undefined } };
  if (step.what?.prev) yield { ...step, what: { ...step.what, prev: undefined } };
  if (step.input?.with !== undefined) yield { ...step, input: { ...step.input, with: undefined } };
  if (step.plan?.tries?.length > 1) yield { ...step, plan: { ...step.plan, tries: step.plan.tries.slice(1) } };
  if (step.times > 1) yield { ...step, times: step.times - 1 };
  if (step.plan?.turns?.length > 0) yield { ...step, plan: { ...step.plan, turns: step.plan.turns.slice(1) } };
  if (["tool", "http"].includes(step.op) && step.plan.tries === undefined && step.plan.body === undefined)
    yield { ...step, op: "call" };
}

/**
 * @param {import("./generate.mjs").Program} program
 * @param {(program: import("./generate.mjs").Program) => Promise<boolean>} fails
 * @param {number} most how many programs to try
 */
export async function shrink(program, fails, most = 150) {
  let best = program;
  let tried = 0;
  search: for (;;) {
    for (const candidate of smaller(best)) {
      if (tried++ >= most) return best;
      if (await fails(candidate)) {
        best = candidate;
        continue search;
      }
    }
    return best;
  }
}
