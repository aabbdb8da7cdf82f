import { expect, it } from "vitest";

import { audit } from "../../proof/mutations/audit.mjs";
import { auditWire } from "../../proof/mutations/wire.mjs";
import { versions } from "../../proof/wire/versions.mjs";

it("of 300 changed requests none is answered, and equivalent requests are", { timeout: 120_000 }, async () => {
  const { rows, same, failures } = await audit({ mutations: 300, seed: "1" });
  expect(failures).toEqual([]);
  const sum = (list: readonly object[], key: string): number =>
    list.reduce((total, row) => total + (row as Record<string, number>)[key]!, 0);
  expect(sum(rows, "missed")).toBe(300);
  expect(sum(same, "hit")).toBe(sum(same, "tried"));
  expect(sum(same, "hit")).toBeGreaterThan(50);
});

it("of 300 changed requests of real clients none is answered, and with other volatile parts they are", async () => {
  const { clients, rows, same, failures } = await auditWire({ mutations: 300, equivalents: 60, seed: "1" });
  expect(failures).toEqual([]);
  expect(clients.length).toBeGreaterThan(12);
  for (const { kind, tried, right } of [...rows, ...same]) expect(`${kind}: ${right}`).toBe(`${kind}: ${tried}`);
  expect(rows.every(({ tried }) => tried > 0)).toBe(true);
}, 120_000);

it("recordings of real clients answer their next version, other versions of Node.js, machines and keys", async () => {
  const { rows, failures } = await versions();
  expect(failures).toEqual([]);
  expect(Object.keys(rows).length).toBeGreaterThanOrEqual(12);
}, 120_000);
