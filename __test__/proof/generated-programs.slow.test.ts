import { expect, it } from "vitest";

import { checkProgram, programOf } from "../../proof/programs/check.mjs";

it("100 generated programs, each recorded under 3 schedules, replay as they ran", { timeout: 300_000 }, async () => {
  const faults: unknown[] = [];
  for (let number = 0; number < 100; number += 1) {
    const found = await checkProgram(programOf("1", number), { seed: "1", number, schedules: [0, 1, 2] });
    faults.push(...found.map((fault) => ({ number, ...fault })));
  }
  expect(faults).toEqual([]);
});
