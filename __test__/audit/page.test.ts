import { expect, it } from "vitest";

import { runPage } from "../support/docs-page.js";

it("the page on audit logs does what it says", async () => {
  await expect(runPage("audit-log.md")).resolves.toBe("true 1\n");
});
