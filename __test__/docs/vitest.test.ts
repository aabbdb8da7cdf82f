import { expect, it } from "vitest";

import { filesOf } from "../support/docs-page.js";
import { chatCompletion, json, modelServer } from "../support/model-server.js";
import { expectPassed, vitestProject } from "../support/vitest-project.js";

it(
  "the tests of docs/vitest.md record, and replay under CI; a changed prompt is named",
  { timeout: 120_000 },
  async () => {
    const files = filesOf("vitest.md");
    expect([...files.keys()]).toEqual(["support.test.js", "agent.test.js", "own.test.js"]);
    using project = vitestProject(Object.fromEntries(files));
    await using server = await modelServer(() => json(chatCompletion("We are open from 9 to 5.")));
    const env = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: "key" };
    expectPassed(await project.run({ env }));
    expect(Object.keys(project.recordings())).toEqual(
      expect.arrayContaining([
        "__recordings__/support.test.js/tells-the-opening-hours.jsonl",
        "__recordings__/support.test.js/tells-the-opening-hours.timing.jsonl",
      ]),
    );
    await server.stop();
    expectPassed(await project.run({ env: { ...env, CI: "1" } }));
    expect(server.requests).toHaveLength(1);

    const [[name, code] = ["", ""]] = files;
    project.write(
      name,
      code.replace("in one sentence", "in two sentences").replace("fetch: rewindFetch()", "maxRetries: 0, $&"),
    );
    const { text } = await project.run({ env });
    expect(text).toContain('RecordingStaleError: The recording of the test "tells the opening hours" is stale.');
    expect(text).toContain(
      '/input/body/messages/0/content: a text (recorded "You answer customers in one sentence.", now "You answer customers in two sentences.")',
    );
  },
);
