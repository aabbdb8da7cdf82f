import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

import { filesOf } from "../support/docs-page.js";
import { expectPassed, vitestProject } from "../support/vitest-project.js";

it("the test of docs/mcp.md records, and replays without the server", { timeout: 60_000 }, async () => {
  const files = filesOf("mcp.md");
  expect([...files.keys()]).toEqual(["forecast.test.js", "weather-server.mjs"]);
  using project = vitestProject(Object.fromEntries(files));
  expectPassed(await project.run());
  rmSync(join(project.folder, "weather-server.mjs"));
  expectPassed(await project.run({ env: { CI: "1" } }));
});
