// node proof/store.mjs [--store sqlite|postgres] [--runs N] [--interruptions N]: interrupts worker processes that share a
// store, and prints what was repeated, lost or forked. Needs Node.js 22.13 or later.
import { parseArgs } from "node:util";
import { interrupt } from "./store/interrupt.mjs";
import { startPostgres } from "./store/postgres.mjs";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "sqlite" },
    runs: { type: "string", default: "1000" },
    interruptions: { type: "string", default: "1000" },
  },
});
const postgres = values.store === "postgres" ? await startPostgres() : undefined;
try {
  const startedAt = performance.now();
  const report = await interrupt({
    url: postgres === undefined ? "sqlite" : `postgres:${postgres.port}`,
    runs: Number(values.runs),
    interruptions: Number(values.interruptions),
    restart: postgres?.restart,
  });
  const { failures, ...counts } = report;
  console.table({ ...counts, failures: failures.length, seconds: Math.round((performance.now() - startedAt) / 1000) });
  for (const message of new Set(failures)) console.log(message);
  const wrong = ["repeated", "forked", "lost", "twiceInStore", "unfinished"].some((name) => report[name] > 0);
  if (wrong || failures.length > 0) process.exitCode = 1;
} finally {
  postgres?.stop();
}
