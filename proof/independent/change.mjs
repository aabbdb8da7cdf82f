// A program that has changed since it was recorded: one of its calls asks for something else that looks the same.

import { ALIKE, CONTENT } from "./content.mjs";
import { walk } from "./shapes.mjs";

/**
 * @param {import("./generate.mjs").Program} program
 * @param {import("../lib/random.mjs").Random} random
 * @returns {import("./generate.mjs").Program | undefined} undefined if no request with content occurs once
 */
export function changed(program, random) {
  const copy = structuredClone(program);
  const asked = Array.from(walk(copy.steps), ([{ what }]) => what).filter((what) => what !== undefined);
  const texts = asked.map((what) => JSON.stringify(what));
  const once = asked.filter(
    (what, index) =>
      what.with !== undefined &&
      what.with[0] in CONTENT &&
      texts.indexOf(texts[index]) === texts.lastIndexOf(texts[index]),
  );
  if (once.length === 0) return undefined;
  const what = random.pick(once);
  const [kind, letter] = what.with;
  const alike = ALIKE.filter((kinds) => kinds.includes(kind)).map(([one, other]) => (one === kind ? other : one));
  what.with = alike.length > 0 ? [random.pick(alike), letter] : [kind, letter === "a" ? "b" : "a"];
  // Not a request that the program also sends elsewhere.
  return texts.includes(JSON.stringify(what)) ? undefined : copy;
}
