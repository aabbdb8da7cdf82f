import { expect, test } from "vitest";

test("runs on a Node.js with synchronous module hooks", async () => {
  expect(await import("node:module")).toHaveProperty("registerHooks");
});
