// Executes runs in several worker processes, interrupts the workers, and checks what they have logged.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connect } from "./connect.mjs";

const WORKER = fileURLToPath(new URL("worker.mjs", import.meta.url));

/**
 * Interrupts `workers` processes until all `runs` have completed, at most `interruptions` times.
 * @param options.restart restarts the database; `restartShare` of the interruptions do.
 */
export async function interrupt(options) {
  const { url, runs, steps = 9, workers = 3, interruptions, lease = 400, atOnce = 8 } = options;
  const { restart, restartShare = 0.01 } = options;
  const folder = mkdtempSync(join(tmpdir(), "rewind-proof-"));
  const [log, world] = ["log", "world"].map((name) => join(folder, name));
  writeFileSync(world, "");
  const store = url === "sqlite" ? `sqlite:${join(folder, "runs.db")}` : url;
  const own = await connect(store);
  const config = JSON.stringify({ store, runs, steps, lease, log, world, atOnce });
  const done = { killed: 0, stopped: 0, restarted: 0 };
  const active = new Set();
  const start = () => {
    const child = spawn(process.execPath, [WORKER, config], { stdio: "inherit" });
    active.add(child);
    child.once("exit", () => active.delete(child));
  };
  for (let count = 0; count < workers; count += 1) start();
  try {
    for (;;) {
      const left = interruptions - done.killed - done.stopped - done.restarted;
      const unfinished = runs - (await completed(own));
      if (unfinished === 0) break;
      while (active.size < workers) start();
      await sleep(left > 0 ? 30 + Math.random() * 300 : 200);
      const child = [...active].at(Math.floor(Math.random() * active.size));
      if (left <= 0 || child === undefined) continue;
      const kind = Math.random();
      if (restart !== undefined && kind < restartShare) {
        restart();
        done.restarted += 1;
      } else if (kind < 0.7) {
        child.kill("SIGKILL");
        done.killed += 1;
      } else {
        child.kill("SIGSTOP");
        done.stopped += 1;
        setTimeout(() => child.kill("SIGCONT"), lease * 2);
      }
    }
    return { ...done, ...(await verdict(own, read(log), readFileSync(world, "utf8"), { runs, steps })) };
  } finally {
    for (const child of active) child.kill("SIGKILL");
    await own.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Also while the database is being restarted. */
async function completed(store) {
  try {
    const ids = new Set();
    for await (const { id } of store.runs({ status: "completed" })) ids.add(id);
    return ids.size;
  } catch {
    return 0;
  }
}

function read(log) {
  const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
  return lines.map((line) => JSON.parse(line));
}

/**
 * - `repeated`: executions of a step although an earlier process had executed the next one, so that its answer was
 *   committed.
 * - `forked`: steps that were given different answers of the step before them, or other ones than the result contains.
 * - `lost`: steps without an answer in the store at the end.
 * - `effectsTwice`: keys that the service has seen twice. It recognizes them by the key.
 * - `unknown`: executions of an effect after an earlier one that nobody had reported or verified.
 */
async function verdict(store, log, world, { runs, steps }) {
  const counts = { repeated: 0, forked: 0, lost: 0, twiceInStore: 0, unfinished: 0 };
  const byRun = Map.groupBy(log, ({ run }) => run);
  for (let index = 0; index < runs; index += 1) {
    const run = `run-${index}`;
    const lines = byRun.get(run) ?? [];
    const attempts = new Map(lines.filter(({ type }) => type === "attempt").map(({ attempt }, at) => [attempt, at]));
    const executed = lines.filter(({ type }) => type === "executed");
    /** By step: the first attempt that executed it. */
    const first = new Map();
    for (const { step, attempt } of executed) {
      first.set(step, Math.min(first.get(step) ?? Number.POSITIVE_INFINITY, attempts.get(attempt)));
    }
    for (const { step, attempt } of executed) {
      const isRepeated = [...first].some(([later, at]) => later > step && at < attempts.get(attempt));
      if (isRepeated) counts.repeated += 1;
    }
    const result = lines.find(({ type }) => type === "completed")?.result;
    const stored = (await store.snapshot(run)).root;
    const names = stored.calls.map(({ callId }) => callId);
    counts.twiceInStore += names.length - new Set(names).size;
    counts.lost += Math.max(0, steps - stored.calls.filter((call) => call.endOrder !== undefined).length);
    if (result === undefined) counts.unfinished += (await store.run(run)).status === "completed" ? 0 : 1;
    const given = Map.groupBy(executed, ({ step }) => step);
    for (const [step, executions] of given) {
      if (step === 0) continue;
      const answers = new Set(executions.map(({ before }) => before));
      if (result !== undefined) answers.add(result[step - 1]);
      if (answers.size > 1) counts.forked += 1;
    }
  }
  const keys = world
    .trim()
    .split("\n")
    .map((line) => line.split(" ")[0]);
  return {
    ...counts,
    effects: new Set(keys).size,
    effectsTwice: keys.length - new Set(keys).size,
    uncertain: log.filter(({ type }) => type === "uncertain").length,
    lostLeases: log.filter(({ type }) => type === "lost").length,
    failures: log.filter(({ type }) => type === "failed").map(({ message }) => message),
  };
}
