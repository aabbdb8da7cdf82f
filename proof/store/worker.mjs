// A worker of proof/store.mjs. Executes runs until all have completed, and may be killed or stopped at any time.
import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isLeaseLostError, isRunLeasedError, isUncertainEffectError, journalCall } from "agent-rewind";
import { durable } from "agent-rewind/store";
import { connect, isUnreachable } from "./connect.mjs";

const { store: url, runs, steps, lease, log, world, atOnce } = JSON.parse(process.argv[2]);
// A resumed run names the calls in flight.
console.warn = () => {};
const store = await connect(url);
// One write each, so lines of several processes do not mix.
const note = (line) => appendFileSync(log, `${JSON.stringify(line)}\n`);
const hasHappened = (key) => readFileSync(world, "utf8").includes(key);
const random = () => Math.random() * 6;

/** Each step returns a value that no other execution returns, and names the value of the step before it. */
const agentOf = (run) => async () => {
  const attempt = `${process.pid}-${Math.random()}`;
  note({ type: "attempt", run, attempt });
  const values = [];
  for (let step = 0; step < steps; step += 1) {
    const effect = step % 3 === 2 ? "once" : "repeatable";
    // Half of the effects have a `verify`; the others are settled below.
    const verify = async (_, { idempotencyKey }) =>
      hasHappened(idempotencyKey) ? `verified-${run}-${step}` : "not-done";
    const call = { kind: "step", name: `step${step}`, request: { step }, effect };
    const value = await journalCall(step % 6 === 2 ? { ...call, verify } : call, async ({ idempotencyKey }) => {
      note({ type: "executed", run, attempt, step, before: values.at(-1) });
      await sleep(random());
      if (effect === "once") appendFileSync(world, `${idempotencyKey} ${run} ${step} ${attempt}\n`);
      await sleep(random());
      return `${attempt}-${step}`;
    });
    values.push(value);
  }
  return values;
};

async function work(run) {
  try {
    note({ type: "completed", run, result: await durable(store, { id: run, lease }, agentOf(run)) });
    return true;
  } catch (error) {
    if (isRunLeasedError(error)) return false;
    if (isUnreachable(error)) {
      note({ type: "unreachable", run });
      await sleep(50);
    } else if (isLeaseLostError(error)) {
      note({ type: "lost", run });
    } else if (isUncertainEffectError(error)) {
      const happened = hasHappened(error.idempotencyKey);
      note({ type: "uncertain", run, key: error.idempotencyKey, happened });
      // Another worker may have been faster.
      await store.settle(run, error.callId, happened ? { output: `settled-${run}` } : "not-done").catch(() => {});
    } else {
      note({ type: "failed", run, message: String(error?.stack ?? error) });
      await sleep(50);
    }
    return false;
  }
}

const open = new Set(Array.from({ length: runs }, (_, index) => `run-${index}`));
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    while (open.size > 0) {
      const candidates = [...open];
      const run = candidates[Math.floor(Math.random() * candidates.length)];
      if (await work(run)) open.delete(run);
      else await sleep(random() * 5);
    }
  }),
);
await store.close();
process.exit(0);
