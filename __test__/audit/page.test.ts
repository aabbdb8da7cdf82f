import { expect, it } from "vitest";

import { runPage } from "../support/page.js";

it("the page on audit logs does what it says", () => {
  expect(runPage("audit-log.md")).toBe("true 1\n");
});
