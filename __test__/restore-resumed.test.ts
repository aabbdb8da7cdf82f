// A resumed run that is killed loses nothing of what it had not requested yet: `resumedFrom` carries it over.
import { createAgent, journalCall, runFrame, runWith, type AgentSnapshot, type TraceEvent } from "agent-rewind";
import { parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { describe, expect, it, vi } from "vitest";

import { defined } from "../ts/values/defined.js";
import { sleep } from "./support/deferred.js";
import { recorder } from "./support/recorder.js";

/** The names of the calls that were executed, in order. */
type Live = string[];

/** Two agents, a frame and the run's own calls race each other. A call of the run has a call inside it. */
async function program(live: Live): Promise<string> {
  const call = (name: string, milliseconds: number, inside: () => Promise<unknown> = async () => undefined) =>
    journalCall({ kind: "step", name: name.slice(0, 1), request: { name } }, async () => {
      live.push(name);
      await sleep(milliseconds);
      await inside();
      if (name === "b2") throw new Error("handled");
      return { name, text: `${name} ended` };
    }).then(
      (answer) => answer.text,
      (error: Error) => error.message,
    );
  const agent = createAgent({
    id: "worker",
    handler: async ({ name, steps }: { name: string; steps: readonly number[] }) => {
      const texts = [];
      for (const [index, milliseconds] of steps.entries()) texts.push(await call(`${name}${index}`, milliseconds));
      return texts.join();
    },
  });
  const texts = await Promise.all([
    agent({ name: "a", steps: [1, 7, 1, 9] }),
    agent({ name: "b", steps: [3, 3, 3] }),
    runFrame({ id: "framed", input: {} }, async () => `${await call("c0", 2)} ${await call("c1", 8)}`),
    (async () => `${await call("d0", 5, () => call("e0", 4))} ${await call("d1", 2)}`)(),
  ]);
  return texts.join(" | ");
}

interface Attempt {
  readonly live: Live;
  readonly events: readonly TraceEvent[];
  readonly result: string;
}

async function attempt(snapshot?: AgentSnapshot): Promise<Attempt> {
  const trace = recorder();
  const live: Live = [];
  const result = await runWith(() => program(live), { eventBus: trace, ...defined({ snapshot }) });
  return { live, events: trace.events, result };
}

const JSON_COPY = (snapshot: AgentSnapshot): AgentSnapshot => parseSnapshot(stringifySnapshot(snapshot));

/** The calls whose answer the events contain. A failure is replayed only if the events show that it was handled. */
const endedIn = (events: readonly TraceEvent[]): string[] =>
  events.flatMap((event) => {
    return event.type === "call:end" && event.success ? [(event.output as { name: string }).name] : [];
  });

/** About eight positions, spread over the events. */
function cuts(events: readonly TraceEvent[], least: number): number[] {
  const step = Math.max(1, Math.floor((events.length - least) / 8));
  return Array.from({ length: events.length }, (_, index) => least + index * step).filter((at) => at < events.length);
}

describe("a run that is killed twice", () => {
  it("executes no call again whose end was recorded, wherever both were killed", async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const whole = await attempt();
    for (const first of cuts(whole.events, 8)) {
      const before = whole.events.slice(0, first);
      const recorded = restoreSnapshot(before);
      const second = await attempt(recorded);
      expect(second.result).toBe(whole.result);
      for (const at of cuts(second.events, 2)) {
        const after = second.events.slice(0, at);
        const snapshot = restoreSnapshot(after, { resumedFrom: at % 2 === 0 ? recorded : JSON_COPY(recorded) });
        const third = await attempt(at % 2 === 0 ? snapshot : JSON_COPY(snapshot));
        const ended = new Set([...endedIn(before), ...endedIn(after)]);
        const again = third.live.filter((name) => ended.has(name));
        expect(again, `killed after ${first} and ${at} events`).toEqual([]);
        expect(third.result).toBe(whole.result);
      }
    }
    vi.restoreAllMocks();
  });

  it("replays the whole run if nothing was left open", async () => {
    const whole = await attempt();
    const second = await attempt(restoreSnapshot(whole.events));
    const snapshot = restoreSnapshot(second.events.slice(0, 3), { resumedFrom: restoreSnapshot(whole.events) });
    const third = await attempt(snapshot);
    expect(third.live).toEqual([]);
    expect(third.result).toBe(whole.result);
  });
});
