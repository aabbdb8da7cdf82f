// The packed package in a project with its own vitest and clients.
import { expect, test } from "vitest";

import { vitestProject } from "../support/vitest-project.js";
import { askingTwoClients } from "./asking.js";
import { install } from "./consumer.js";
import { liveThrough } from "./cycle.js";

test.each([{ openai: "openai" }, { openai: "openai7" }])(
  "with $openai: records, replays without a server, names a changed prompt, updates, and records nothing under CI",
  async ({ openai }) => {
    const others = { vitest: "vitest", openai, "@anthropic-ai/sdk": "@anthropic-ai/sdk" };
    const { folder } = install({ platform: true, others });
    const project = vitestProject({ "vitest.config.mjs": "export default {};" }, folder);
    await liveThrough(project, askingTwoClients(), ["openai", "anthropic"]);
    expect(Object.keys(project.recordings()).filter((path) => !path.includes(".timing."))).toHaveLength(2);
  },
);
