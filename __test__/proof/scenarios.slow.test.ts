import { describe, expect, it } from "vitest";

import { audit } from "../../proof/scenarios/audit.mjs";
import { scenarios } from "../../proof/scenarios/scenarios.mjs";

describe("a replay from every end of a call, and from before and after every span", () => {
  it.each(Object.entries(scenarios))(
    "%s: executes no call again and returns no wrong result",
    { timeout: 120_000 },
    async (name, make) => {
      const { repeated, wrong, faults, replays } = await audit(name, make);
      expect({ repeated, wrong, faults }).toEqual({ repeated: 0, wrong: 0, faults: [] });
      expect(replays).toBeGreaterThan(20);
    },
  );
});
