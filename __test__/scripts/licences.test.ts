// Which licences of third-party code the packages may contain.
import { describe, expect, it } from "vitest";

import { bundledModules, isAllowed, linkedCrates, notices, refused } from "../../scripts/lib/licences.mjs";

describe("a licence expression", () => {
  it.each([
    ["MIT", true],
    ["MIT OR GPL-3.0", true],
    ["GPL-3.0 OR (MIT AND Zlib)", true],
    ["(MIT OR Apache-2.0) AND Unicode-3.0", true],
    ["MIT/Apache-2.0", true],
    ["GPL-3.0", false],
    ["MIT AND GPL-2.0", false],
    ["(MIT OR Apache-2.0) AND LGPL-3.0", false],
    ["Apache-2.0 WITH LLVM-exception", false],
    ["SEE LICENSE IN FILE", false],
    ["", false],
  ])("%j is allowed: %s", (expression, allowed) => {
    expect(isAllowed(expression)).toBe(allowed);
  });
});

it("covers all crates of the addon and modules of dist/, without what only builds and tests use", () => {
  const parts = [...linkedCrates(), ...bundledModules()];
  expect(refused(parts)).toEqual([]);
  const names = parts.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["napi", "sha2", "serde_json", "zod-to-json-schema", "@mswjs/interceptors"]),
  );
  for (const name of ["napi-build", "serde_derive", "proptest", "agent-rewind-core", "vitest"])
    expect(names).not.toContain(name);
  const [first] = parts;
  expect(refused([{ ...(first as (typeof parts)[0]), licence: "GPL-3.0" }])).toHaveLength(1);
});

it("a notice lists each part once, and equal texts once", () => {
  const parts = linkedCrates();
  const text = notices(parts);
  const [head = "", ...sections] = text.split(`\n\n${"-".repeat(80)}\n\n`);
  expect(head.match(/^- /gm)).toHaveLength(parts.length);
  for (const { name, version } of parts) {
    expect(head).toContain(`- ${name} ${version}: `);
    expect(sections.some((section) => section.slice(0, section.indexOf("\n\n")).includes(`${name} ${version}`))).toBe(
      true,
    );
  }
  const bodies = sections.map((section) => section.slice(section.indexOf("\n\n")));
  expect(new Set(bodies).size).toBe(bodies.length);
});
