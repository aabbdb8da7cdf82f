// `effect: "once"` without a store: a resumed run does not repeat a call that was in flight.
import { callTool, journalCall, resume, runWith, type AgentSnapshot, type Effect } from "agent-rewind";
import { restoreSnapshot } from "agent-rewind/debugger";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { deferred } from "../support/deferred.js";
import { recorder } from "../support/recorder.js";
import { toolOf } from "../support/tools.js";

beforeEach(() => void vi.spyOn(console, "warn").mockImplementation(() => {}));
afterEach(() => vi.restoreAllMocks());

const pay = (effect: Effect | undefined, make: () => unknown, verify?: () => unknown): Promise<unknown> =>
  journalCall(
    { kind: "pay", name: "pay", request: { amount: 1 }, ...(effect && { effect }), ...(verify && { verify }) },
    make,
  );

/** The recording of a run that was killed during the call. */
async function killedDuring(effect: Effect): Promise<AgentSnapshot> {
  const trace = recorder();
  const started = deferred();
  void runWith(
    () =>
      pay(effect, () => {
        started.resolve();
        return new Promise(() => {});
      }),
    { eventBus: trace },
  );
  await started.promise;
  return restoreSnapshot(trace.events);
}

describe("a resumed run whose call was in flight", () => {
  it("executes it again if it is repeatable", async () => {
    expect(await resume(() => pay("repeatable", () => "paid"), { snapshot: await killedDuring("repeatable") })).toBe(
      "paid",
    );
  });

  it("fails if it must happen once", async () => {
    const make = vi.fn();
    const running = resume(() => pay("once", make).catch(() => "caught"), { snapshot: await killedDuring("once") });
    await expect(running).rejects.toMatchObject({
      name: "UncertainEffectError",
      code: "ERR_REWIND_UNCERTAIN_EFFECT",
      callId: "root/pay:pay:0",
      input: { amount: 1 },
    });
    expect(make).not.toHaveBeenCalled();
  });

  it("asks verify", async () => {
    const make = vi.fn(() => "paid again");
    const snapshot = await killedDuring("once");
    expect(await resume(() => pay("once", make, () => "found"), { snapshot })).toBe("found");
    expect(make).not.toHaveBeenCalled();
    expect(await resume(() => pay("once", make, () => "not-done"), { snapshot })).toBe("paid again");
    expect(make).toHaveBeenCalledOnce();
  });
});

it("executes a call that must happen once if nothing of it is recorded", async () => {
  expect(await runWith(() => pay("once", () => "paid"))).toBe("paid");
});

it("names a wrong effect", async () => {
  await expect(runWith(() => pay("twice" as Effect, () => 1))).rejects.toThrow(
    'journalCall: call.effect must be "none", "repeatable" or "once", received "twice"',
  );
  const tool = { ...toolOf("charge", () => 1), verify: () => 1 };
  await expect(runWith(() => callTool(tool, {}))).rejects.toThrow('tool "charge".verify needs effect: "once"');
});
