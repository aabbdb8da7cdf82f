import { expect, it } from "vitest";

import { audit } from "../../proof/mutations/audit.mjs";

it("of 300 changed requests none is answered, and equivalent requests are", { timeout: 120_000 }, async () => {
  const { rows, same, failures } = await audit({ mutations: 300, seed: "1" });
  expect(failures).toEqual([]);
  const sum = (list: readonly object[], key: string): number =>
    list.reduce((total, row) => total + (row as Record<string, number>)[key]!, 0);
  expect(sum(rows, "missed")).toBe(300);
  expect(sum(same, "hit")).toBe(sum(same, "tried"));
  expect(sum(same, "hit")).toBeGreaterThan(50);
});
