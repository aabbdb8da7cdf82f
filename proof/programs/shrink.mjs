/**
 * Shrinks a failing program as long as it still fails.
 *
 * @param {import("./generate.mjs").Program} program
 * @param {(program: import("./generate.mjs").Program) => Promise<boolean>} fails
 */
export async function shrink(program, fails, tries = 600) {
  let smallest = program;
  for (let progress = true; progress;) {
    progress = false;
    for (const cut of cuts(smallest)) {
      if (tries-- <= 0) return smallest;
      if (await fails(cut)) {
        smallest = cut;
        progress = true;
        break;
      }
    }
  }
  return smallest;
}

/** Programs with one part less, the largest cuts first. */
function* cuts(program) {
  const places = [];
  visit(program.body, (list, index) => places.push({ list, index }));
  for (let place = 0; place < places.length; place++) {
    for (const change of CHANGES) {
      const copy = structuredClone(program);
      let at = 0;
      let changed = false;
      visit(copy.body, (list, index) => {
        if (at++ === place) changed = change(list, index);
      });
      if (changed) yield copy;
    }
  }
}

/** Each returns true if it changed anything. */
const CHANGES = [
  (list, index) => list.splice(index, 1).length > 0,
  // Replaces a statement by its inner statements.
  (list, index) => {
    const inner = blocksOf(list[index]);
    if (inner.length !== 1) return false;
    list.splice(index, 1, ...inner[0]);
    return true;
  },
  (list, index) => {
    const { branches } = list[index];
    if (!(branches?.length > 1)) return false;
    branches.pop();
    return true;
  },
  (list, index) => {
    const { branches } = list[index];
    if (!(branches?.length > 1)) return false;
    branches.shift();
    return true;
  },
  ...[
    ["reads", []],
    ["fails", 0],
    ["tools", 0],
    ["wrongAnswers", 0],
    ["reborns", 0],
    ["toolFails", false],
    ["times", 1],
    ["count", 1],
  ].map(([field, least]) => (list, index) => {
    const node = list[index];
    if (node[field] === undefined || String(node[field]) === String(least)) return false;
    node[field] = least;
    return true;
  }),
];

function blocksOf({ body, fallback, branches = [], yes, no }) {
  return [body, fallback, yes, no, ...branches].filter((block) => block?.length > 0);
}

function visit(list, see) {
  // Statements that `see` removes are not visited.
  for (let index = list.length - 1; index >= 0; index--) {
    const node = list[index];
    for (const block of blocksOf(node)) visit(block, see);
    see(list, index);
  }
}
