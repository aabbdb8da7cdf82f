// Forks of random runs with sequential and parallel calls and sub-agents, equal requests and handled failures.

import {
  journalCall,
  runFrame,
  runWith,
  type AgentFrameSnapshot,
  type AgentSnapshot,
  type CallRecord,
} from "agent-rewind";
import { dumpSnapshot, forkSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import fc from "fast-check";
import { expect, it } from "vitest";

type Plan =
  | { type: "call"; name: string; fails: boolean; ticks: number }
  | { type: "agent"; id: string; fails: boolean; body: Plan }
  | { type: "sequence" | "parallel"; plans: Plan[] };

const plans = fc.letrec<{ plan: Plan; body: Plan }>((tie) => ({
  plan: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.record({
      type: fc.constant("call" as const),
      name: fc.constantFrom("a", "b", "c"),
      fails: fc.boolean(),
      ticks: fc.nat(6),
    }),
    tie("body"),
    fc.record({
      type: fc.constant("agent" as const),
      id: fc.constantFrom("x", "y"),
      fails: fc.boolean(),
      body: tie("body"),
    }),
  ),
  body: fc.record({
    type: fc.constantFrom("sequence" as const, "parallel" as const),
    plans: fc.array(tie("plan"), { minLength: 1, maxLength: 4 }),
  }),
}));

/** The results at each position of a plan, and the positions whose calls were live. */
interface Outcome {
  values: Record<string, string>;
  liveCalls: string[];
}

async function carryOut(whole: Plan, answer: (ticks: number) => Promise<string>): Promise<Outcome> {
  const outcome: Outcome = { values: {}, liveCalls: [] };
  const go = async (plan: Plan, place: string): Promise<void> => {
    switch (plan.type) {
      case "call":
        outcome.values[place] = await journalCall({ kind: "step", name: plan.name, request: {} }, async () => {
          outcome.liveCalls.push(place);
          const value = await answer(plan.ticks);
          if (plan.fails) throw new Error(value);
          return value;
        }).catch((error: Error) => error.message);
        break;
      case "agent":
        await runFrame({ id: plan.id, input: {} }, async () => {
          await go(plan.body, `${place}/${plan.id}`);
          if (plan.fails) throw new Error("the agent failed");
        }).catch(() => {});
        break;
      case "sequence":
        for (const [index, each] of plan.plans.entries()) await go(each, `${place}.${index}`);
        break;
      case "parallel":
        await Promise.all(plan.plans.map((each, index) => go(each, `${place}.${index}`)));
    }
  };
  await go(whole, "");
  return outcome;
}

async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick += 1) await new Promise((resolve) => setImmediate(resolve));
}

function framesIn(frame: AgentFrameSnapshot): AgentFrameSnapshot[] {
  return [frame, ...Object.values(frame.children).flatMap(framesIn)];
}

/** The calls of a frame with their outcomes. Each outcome has a unique text. */
function valuesOf({ calls = [], journal }: AgentFrameSnapshot): [CallRecord, unknown][] {
  return calls.map((call) => {
    const output = call.row === true ? journal.other?.["step"]?.[call.contentHash]?.output : call.output;
    return [call, call.error?.message ?? output];
  });
}

const AGAIN = "executed again";

it("executes exactly the dropped calls again and returns everything else as recorded", async () => {
  await fc.assert(
    fc.asyncProperty(plans.body, fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), async (plan, picks) => {
      let number = 0;
      let first: Outcome | undefined;
      const source = await runWith(async () => {
        first = await carryOut(plan, async (count) => {
          const value = `answer ${number++}`;
          await ticks(count);
          return value;
        });
        return dumpSnapshot();
      });
      const recorded = (first as Outcome).values;
      // Live calls take longer than replayed ones, so they start nothing before the replayed ones do.
      const replay = (snapshot: AgentSnapshot): Promise<Outcome> =>
        runWith(() => carryOut(plan, () => ticks(100).then(() => AGAIN)), { snapshot });

      const { root } = JSON.parse(stringifySnapshot(source)) as AgentSnapshot;
      const values = new Map(framesIn(root).flatMap(valuesOf));
      const calls = [...values.keys()];
      const subjects = [
        ...calls.map((call) => ({ callId: call.callId, end: call.endOrder ?? Infinity, inside: [call] })),
        ...framesIn(root)
          .slice(1)
          .map((frame) => ({
            callId: frame.callId,
            end: frame.endOrder ?? Infinity,
            inside: framesIn(frame).flatMap((each) => each.calls ?? []),
          })),
      ];
      fc.pre(subjects.length > 0);
      const chosen = picks.map((pick) => subjects[pick % subjects.length] as (typeof subjects)[number]);
      const isDropped = (call: CallRecord): boolean =>
        chosen.some(({ end, inside }) => inside.includes(call) || call.startOrder > end);
      const dropped = new Set(calls.filter(isDropped).map((call) => values.get(call)));
      // A failure that was the last event is retried if it is still the last one.
      const { liveCalls: retried } = await replay(source);
      const fork = forkSnapshot(
        source,
        chosen.map(({ callId }) => ({ at: callId, drop: true })),
      );
      const forked = await replay(fork);
      for (const [place, value] of Object.entries(recorded)) {
        const wasMade = forked.liveCalls.includes(place);
        if (dropped.has(value) || !retried.includes(place))
          expect({ place, wasMade }).toEqual({ place, wasMade: dropped.has(value) });
        expect({ place, value: forked.values[place] }).toEqual({ place, value: wasMade ? AGAIN : value });
      }
    }),
    { numRuns: Number(process.env["FORK_RUNS"] ?? 20) },
  );
}, 600_000);
