// A program whose snapshot has every field of calls and frames, each with a value that is not its default.

import { setImmediate as nextMacrotask } from "node:timers/promises";

import {
  createAgent,
  equipInstruction,
  equipMemory,
  equipTool,
  journalCall,
  promptAgent,
  reborn,
  runFrame,
  runWith,
  type AgentSnapshot,
  type TraceEvent,
} from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { wrapTools } from "agent-rewind/tools";
import { z } from "zod";

import { answer, asking, double, streamingModel } from "./streaming.js";

/** The mark of calls and frames that a resumed run has copied from the earlier recording without having asked for them. */
export const CARRIED_OVER = "carriedOver";

/** The frame that nothing else depends on. A fork that edits its call leaves the other frames as they are. */
export const APART = "apart";

const SECRET = "sk-proj-0123456789abcdefghijklmnopqrstuv";

const step = <T>(name: string, make: () => T): Promise<Awaited<T>> =>
  journalCall({ kind: "step", name, request: { name } }, make) as Promise<Awaited<T>>;

const failing = (name: string): Promise<unknown> =>
  step(name, () => {
    throw Object.assign(new RangeError(`${name} failed`), { code: "E_STEP" });
  });

const attempt = (number: number): Promise<unknown> =>
  journalCall({ kind: "step", name: "retried", request: {}, attempt: number }, () => {
    if (number === 0) throw new Error("failed once");
    return number;
  });

const fetch = rewindFetch(() =>
  Promise.resolve(new Response("body", { headers: { "content-type": "text/plain", "x-request-id": "r1" } })),
);

const { weather } = wrapTools({
  weather: { inputSchema: {}, execute: async (_input: object, _options: { toolCallId: string }) => "rain" },
});

export const everyFieldOptions = { redact: {} };

export async function everyFieldProgram(): Promise<void> {
  const [seen, setSeen] = equipMemory<string[]>("seen", []);
  await runFrame({ id: "outputs", input: { at: new Date(0) } }, async () => {
    // Equal requests share one row of the journal, which has the last output.
    for (const day of [1, 2]) await step("same", () => new Date(day));
    await step("not JSON", () => ({ run: () => {} }));
    await weather.execute({ city: "Oslo" }, { toolCallId: "call_1" });
    await journalCall({ kind: "step", name: "inexact", request: { notify() {} } }, () => "answer");
    await (await fetch("https://x.test/", { headers: { "x-stainless-retry-count": "1" } })).text();
    // The end of the body is recorded apart from the answer, and is not to race with the end of the frame.
    await nextMacrotask();
    return new Date(3);
  });
  const model = streamingModel(asking, answer);
  const asker = createAgent<{ round: number; at: Date }, unknown>({
    id: "asker",
    model: { ...model, calculateCost: () => ({ microcents: 5 }) },
    handler: async ({ round }) => {
      const [rounds, setRounds] = equipMemory<number[]>("rounds", []);
      if (round === 0) {
        setRounds([...rounds, round]);
        await step("first generation", () => round);
        return reborn({ round: 1, at: new Date(1) });
      }
      equipInstruction(`Use ${SECRET}.`);
      equipTool(double);
      return promptAgent(z.object({ result: z.string() }));
    },
  });
  await asker({ round: 0, at: new Date(0) });
  // Calls inside a call belong to it.
  await step("outer", () =>
    runFrame({ id: "inside", input: {} }, () => step("in a frame", () => step("inner", () => 1))),
  );
  await failing("handled").catch(() => {});
  const outer = runFrame({ id: "outer", input: {} }, () =>
    runFrame({ id: "inner", input: {} }, () => failing("stopped")),
  );
  await outer.catch(() => {});
  await Promise.all([1, 2].map((number) => step("open together", () => nextMacrotask(number))));
  await attempt(0).catch(() => attempt(1));
  const echo = { from: "/id", to: "/id" };
  await journalCall({ kind: "step", name: "echo", request: { id: 1 }, echo }, () => ({ id: 1 }));
  setSeen([...seen, "all"]);
  await runFrame({ id: APART, input: {} }, () => step("apart", () => "apart"));
}

export interface EveryField {
  /** The dump at the end of the run. */
  readonly whole: AgentSnapshot;
  /** The dump of a run that resumed it and stopped before its first call. */
  readonly early: AgentSnapshot;
  /** The trace of the run, up to the dump. */
  readonly events: readonly TraceEvent[];
}

export async function recordEveryField(): Promise<EveryField> {
  const events: TraceEvent[] = [];
  let dumpedAt = 0;
  const whole = await runWith(
    async () => {
      await everyFieldProgram();
      dumpedAt = events.length;
      return dumpSnapshot();
    },
    { ...everyFieldOptions, eventBus: { emit: (event) => void events.push(event) } },
  );
  const snapshot = parseSnapshot(stringifySnapshot(whole));
  // As a fork writes it.
  (snapshot.root.calls ?? []).slice(-1).forEach((call) => (call.dropped = true));
  const early = await runWith(() => dumpSnapshot(), { ...everyFieldOptions, snapshot, mode: "resume" });
  return { whole, early, events: events.slice(0, dumpedAt) };
}
