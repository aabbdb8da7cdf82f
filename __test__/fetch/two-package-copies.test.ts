// Two copies of the package in one process: the fetch of one copy finds the run of the other.
import { createRequire } from "node:module";
import { expect, it } from "vitest";

import { modelServer } from "../support/model-server.js";
import { record, replayed } from "../support/recorded.js";

const { rewindFetch } = createRequire(import.meta.url)("agent-rewind/fetch") as typeof import("agent-rewind/fetch");

it("records and replays a fetch of one copy in a run of the other", async () => {
  await using server = await modelServer(() => ({ body: "text" }));
  const program = async () => (await rewindFetch()(server.url)).text();
  const { value, snapshot } = await record(program);
  await server.stop();
  expect(value).toBe("text");
  expect(await replayed(program, snapshot)).toBe("text");
});
