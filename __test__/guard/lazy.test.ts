// The guard costs nothing in programs that never replay. This file has a process of its own.
import { Agent } from "node:http";
import { replay, runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { expect, it } from "vitest";

const addRequest = (): unknown => Object.getOwnPropertyDescriptor(Agent.prototype, "addRequest")?.value;

it("patches node:http only when the first guarded run begins", async () => {
  const original = addRequest();
  const snapshot = await runWith(() => dumpSnapshot());
  expect(addRequest()).toBe(original);

  await replay(() => {}, { snapshot });
  expect(addRequest()).not.toBe(original);
});
