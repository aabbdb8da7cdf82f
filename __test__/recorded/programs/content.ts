// Programs of replay flag 5: what is part of a hash, if it is not JSON.
import { journalCall, runFrame } from "agent-rewind";

import type { Program, World } from "../program.js";

class Message {
  constructor(
    readonly role: string,
    readonly content: unknown,
  ) {}
}

class Labeled extends Map<string, unknown> {
  readonly label = "a";
}

/** Values of one kind. Without the flag, a hash covers only the name of their class. */
const KINDS: Readonly<Record<string, (n: number) => unknown>> = {
  instance: (n) => new Message("user", [new Message("part", n)]),
  json: (n) => ({ toJSON: () => ({ n }) }),
  map: (n) => new Labeled([["n", n]]),
  floats: (n) => new Float32Array([n]),
  params: (n) => new URLSearchParams({ n: String(n) }),
  headers: (n) => new Headers({ n: String(n) }),
  pattern: (n) => new RegExp(String(n)),
  error: (n) => new RangeError(String(n), { cause: new Error("cause") }),
};

function askBoth(world: World, kind: string, value: (n: number) => unknown): Promise<unknown[]> {
  return Promise.all([1, 2].map((n) => world.call(kind, () => `${kind} ${n}`, { value: value(n) })));
}

const exactContent: Program = {
  name: "exact-content",
  flag: 5,
  async run(world) {
    const answers: Record<string, unknown> = {};
    for (const [kind, value] of Object.entries(KINDS)) {
      answers[kind] = await askBoth(world, kind, value);
      if (kind === "floats") world.middle();
    }
    return answers;
  },
};

/** Frames with a callback in their props are found by their callId. */
const inexactProps: Program = {
  name: "inexact-props",
  async run(world) {
    const research = (topic: string): Promise<unknown> =>
      runFrame({ id: "research", input: { topic, onProgress: () => {} } }, async () => [
        await world.call("ask", () => topic, { topic }),
        await journalCall({ kind: "step", name: "same", request: {} }, () => topic),
      ]);
    const rain = await research("rain");
    world.middle();
    return { rain, snow: await research("snow") };
  },
};

/** Nothing that a hash covers tells these frames apart, so a request that both recorded is a miss. */
const equalProps: Program = {
  name: "equal-props",
  flag: 5,
  goesLive: true,
  async run(world) {
    const research = (topic: string): Promise<unknown> =>
      runFrame({ id: "research", input: { find: () => topic } }, () => world.call("ask", () => topic));
    const rain = await research("rain");
    world.middle();
    return { rain, snow: await research("snow") };
  },
};

export const contentPrograms: readonly Program[] = [exactContent, inexactProps, equalProps];
