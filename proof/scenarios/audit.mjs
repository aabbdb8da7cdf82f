// Records a scenario with a trace and a dump at every end of a call. Then replays from each dump and from before and
// after each span of the trace, and counts the finished calls that were executed again.

import { isDeepStrictEqual } from "node:util";

import { runWith } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { World } from "./world.mjs";

const CALL_ENDS = new Set(["turn:end", "tool:call:end", "call:end"]);

/** The results of a scenario: the number of replays, and their errors. */
export async function audit(name, make) {
  const live = new World();
  const events = [];
  const points = [];
  const finished = () => events.filter(({ type, success, cache }) => CALL_ENDS.has(type) && success && !cache).length;
  // The successful calls that the world remembers. Other calls are requested again, as before.
  let remembered = {};
  const memories = [];
  const eventBus = {
    emit(event) {
      events.push(event);
      if (CALL_ENDS.has(event.type) && event.success) remembered = { ...live.counts };
      memories.push(remembered);
      if (CALL_ENDS.has(event.type))
        points.push({
          what: `dump at ${event.type} ${event._seq}`,
          snapshot: dumpSnapshot(),
          finished: finished(),
          counts: remembered,
        });
    },
  };
  const run = make(live);
  const expected = await runWith(
    async () => {
      const value = await run();
      points.push({ what: "dump at the end", snapshot: dumpSnapshot(), finished: finished(), counts: remembered });
      return value;
    },
    { eventBus },
  );
  const total = live.liveCalls.length;
  points.push(...restores(events, memories));
  const report = { name, replays: 0, calls: total, repeated: 0, wrong: 0, faults: [] };
  for (const { what, snapshot, finished: done, counts } of points) {
    for (const [form, given] of [
      ["as it is", snapshot],
      ["through JSON", parseSnapshot(stringifySnapshot(snapshot))],
    ]) {
      const world = new World(counts);
      const again = make(world);
      const result = await runWith(() => again(), { snapshot: given }).catch((error) => error);
      report.replays += 1;
      // A handled failure is replayed, so there may be fewer live calls than expected, but never more.
      const repeated = Math.max(0, world.liveCalls.length - (total - done));
      report.repeated += repeated;
      const wrong = !isDeepStrictEqual(result, expected);
      if (wrong) report.wrong += 1;
      if (repeated > 0 || wrong)
        report.faults.push({ what, form, liveCalls: world.liveCalls, remaining: total - done, result, expected });
    }
  }
  return report;
}

function restores(events, memories) {
  const spans = [...new Set(events.map(({ trace }) => trace.spanId))];
  return spans.flatMap((spanId) =>
    ["before", "after"].flatMap((anchor) => {
      const kept = keptEvents(events, spanId, anchor);
      try {
        const snapshot = restoreSnapshot(events, { spanId, anchor });
        const done = kept.filter(({ type, success }) => CALL_ENDS.has(type) && success).length;
        const counts = memories[kept.length - 1];
        return [{ what: `restore ${anchor} ${spanId}`, snapshot, finished: done, counts }];
      } catch (error) {
        // There is nothing before the first agent.
        if (error.name === "RestoreError" && !kept.some(({ type }) => type === "agent:start")) return [];
        throw error;
      }
    }),
  );
}

function keptEvents(events, spanId, anchor) {
  const own = events.filter(({ trace }) => trace.spanId === spanId);
  const start = own.at(0)._seq;
  const end = own.at(-1)._seq;
  return events.filter(({ _seq }) => (anchor === "before" ? _seq < start : _seq <= end));
}
