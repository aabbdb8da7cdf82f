// The promises of the example, checked against the calls that reached the endpoint and the tools.
import { isDeepStrictEqual } from "node:util";
import { countRepeats } from "./call-log.mjs";

/**
 * Counts calls of a replay that had finished in the recorded run before the restored point. Calls in flight at that
 * point have to be executed again, so they do not count.
 */
export function countRepeated(recorded, phase, finished) {
  const repeated = (kind, done) =>
    Math.max(0, countRepeats(recorded[kind], phase[kind]) - (recorded[kind].length - done));
  return {
    model: repeated("requests", finished.model),
    tool: repeated("toolCalls", finished.tool),
  };
}

/**
 * @param {object} run
 * @param {object} run.recorded The run that failed.
 * @param {{ phase: object, finished: { model: number, tool: number } }[]} run.replays
 * @param {object} [run.control] A run of the fixed agent without a snapshot. If given, the model must be
 *   deterministic, and all numbers and answers have to equal those of this run.
 * @returns {{ promise: string, kept: boolean, detail: string }[]}
 */
export function checkPromises({ recorded, replays, control }) {
  const promises = [];
  const check = (promise, actual, expected) =>
    promises.push({
      promise,
      kept: isDeepStrictEqual(actual, expected),
      detail: `expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`,
    });

  check("the first run fails because of the bug", recorded.error?.name, "TypeError");
  for (const { phase, finished } of replays) {
    check(`${phase.name}: succeeds`, phase.error?.message, undefined);
    check(`${phase.name}: no finished call is repeated`, countRepeated(recorded, phase, finished), {
      model: 0,
      tool: 0,
    });
    check(`${phase.name}: all finished calls are replayed`, phase.replayed, finished);
    if (!control) continue;
    check(
      `${phase.name}: only the remaining calls are live`,
      { model: phase.requests.length, tool: phase.toolCalls.length },
      {
        model: control.requests.length - finished.model,
        tool: control.toolCalls.length - finished.tool,
      },
    );
    check(`${phase.name}: the answer equals that of a run without replay`, phase.result, control.result);
  }
  if (control) check(`${control.name}: succeeds`, control.error?.message, undefined);
  return promises;
}
