import { expect, it } from "vitest";

import { runPage } from "../support/docs-page.js";

it("the page on redaction does what it says", async () => {
  const token = ["gh", "p_aB3dE5gH7jK9mN1pQ2sT4vW6xZ8yC0fL1234"].join("");
  const lines = (await runPage("redaction.md", { EXAMPLE_TOKEN: token, EXAMPLE_REDACT_KEY: "pepper" }))
    .trimEnd()
    .split("\n");
  expect(lines[0]).toBe("true");
  expect(lines[1]).toBe("false");
  expect(lines[2]).toMatch(/^\[redacted:github-key:[0-9a-f]{16}\]$/);
  const rest = lines.slice(3).join(" ");
  expect(rest).toMatch(
    /note: 'ask \[redacted:employee:[0-9a-f]{16}\]',\s+password: '\[redacted:password:[0-9a-f]{16}\]'/,
  );
  expect(rest).toMatch(/rule: 'employee', pointer: '', span: \[ 4, 11 \]/);
  expect(lines.at(-1)).toMatch(/^ask \[redacted:employee:[0-9a-f]{16}\] about it$/);
});
