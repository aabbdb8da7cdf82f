// The packed package in a project with vitest and clients of its own.
import { expect, test } from "vitest";

import { vitestProject } from "../support/vitest-project.js";
import { askingTwoClients } from "./asking.js";
import { install } from "./consumer.js";
import { liveThrough } from "./cycle.js";

test.each([{ openai: "openai" }, { openai: "openai7" }])(
  "with $openai: records, replays without a server, names a changed prompt, is mended, and makes nothing under CI",
  async ({ openai }) => {
    const others = { vitest: "vitest", openai, "@anthropic-ai/sdk": "@anthropic-ai/sdk" };
    const { folder } = install({ platform: true, others });
    const project = vitestProject({ "vitest.config.mjs": "export default {};" }, folder);
    await liveThrough(project, askingTwoClients(), ["openai", "anthropic"]);
    expect(Object.keys(project.recordings()).filter((path) => !path.includes(".timing."))).toHaveLength(2);
  },
);
