// Shapes of runs that each grow in one direction.

import { equipMemory, journalCall, runFrame } from "agent-rewind";

/** The number of calls between pauses. */
const AT_ONCE = 2_000;

/**
 * @typedef {object} Shape
 * @property {string} title the thing that `n` counts
 * @property {(n: number, make: (value: number) => unknown, rest?: () => Promise<void>) => Promise<number>} run returns
 *   the sum of all answers; pauses now and then, so that a trace writer can keep up
 */

/** @type {Record<string, Shape>} */
export const shapes = {
  nested: {
    title: "frames inside one another, runWith's included",
    run: (n, make) => nest(n - 2, make),
  },
  siblings: {
    title: "sub-agents of one frame",
    async run(n, make, rest) {
      let sum = 0;
      for (let index = 0; index < n; index++) {
        sum += await runFrame({ id: "sibling", input: { index } }, () => call(index, make));
        if (index % AT_ONCE === AT_ONCE - 1) await rest?.();
      }
      return sum;
    },
  },
  entries: {
    title: "small entries in the journal of one frame",
    run: (n, make, rest) =>
      runFrame({ id: "frame", input: {} }, async () => {
        let sum = 0;
        for (let index = 0; index < n; index++) {
          sum += await call(index, make);
          if (index % AT_ONCE === AT_ONCE - 1) await rest?.();
        }
        return sum;
      }),
  },
};

function nest(depth, make) {
  return runFrame({ id: "level", input: { depth } }, async () => {
    const [level] = equipMemory("level", depth);
    const answer = await call(level, make);
    return depth === 0 ? answer : answer + (await nest(depth - 1, make));
  });
}

function call(value, make) {
  return journalCall({ kind: "step", name: "s", request: value }, () => make(value));
}
