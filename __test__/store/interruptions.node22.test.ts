// Worker processes that are killed, stopped and continued, and a database that is restarted. `node proof/store.mjs` does
// the same with more of them.
import { describe, expect, it } from "vitest";

import { interrupt } from "../../proof/store/interrupt.mjs";
import { serverBinaries, startPostgres } from "../../proof/store/postgres.mjs";

const CLEAN = { repeated: 0, forked: 0, lost: 0, twiceInStore: 0, unfinished: 0, failures: [] };

describe("three processes that share a store and are interrupted", () => {
  it("commit no step twice and lose none, in SQLite", { timeout: 300_000 }, async () => {
    const report = await interrupt({ url: "sqlite", runs: 12, interruptions: 12, atOnce: 4 });
    expect(report).toMatchObject(CLEAN);
    expect(report.effects).toBe(36);
  });

  it.skipIf(serverBinaries() === undefined)(
    "commit no step twice and lose none, in PostgreSQL that is restarted",
    { timeout: 300_000 },
    async () => {
      const server = await startPostgres();
      try {
        const restart = () => server.restart();
        const report = await interrupt({
          url: `postgres:${server.port}`,
          runs: 24,
          interruptions: 12,
          atOnce: 4,
          restart,
          restartShare: 0.2,
        });
        expect(report).toMatchObject(CLEAN);
        expect(report.effects).toBe(72);
      } finally {
        server.stop();
      }
    },
  );
});
