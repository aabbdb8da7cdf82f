// Two copies of the package in one process: the run of one is seen by the fetch of the other.
import { createRequire } from "node:module";
import { expect, it } from "vitest";

import { modelServer } from "../support/model-server.js";
import { record, replayed } from "../support/recorded.js";

const { rewindFetch } = createRequire(import.meta.url)("agent-rewind/fetch") as typeof import("agent-rewind/fetch");

it("is recorded and replayed", async () => {
  await using server = await modelServer(() => ({ body: "text" }));
  const program = async () => (await rewindFetch()(server.url)).text();
  const { value, snapshot } = await record(program);
  await server.stop();
  expect(value).toBe("text");
  expect(await replayed(program, snapshot)).toBe("text");
});
