import { describe, expect, it } from "vitest";
import { captureStack, runProgram, type Lane } from "../../ts/runtime/call/identity/async-stack.js";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The lane of a leaf that `program` calls, in the frame that it runs in. */
async function laneIn(program: (leaf: () => Promise<void>) => unknown): Promise<Lane | undefined> {
  let captured: ReturnType<typeof captureStack>;
  async function leaf(): Promise<void> {
    await sleep(0);
    captured = captureStack();
  }
  await runProgram(() => program(leaf));
  return captured?.lane();
}

async function text(program: (leaf: () => Promise<void>) => unknown): Promise<string> {
  const lane = await laneIn(program);
  return `${lane?.names.join(" < ")}${lane?.complete === true ? "" : " …"}`;
}

describe("the lane of a call", () => {
  it("names functions, methods and arrows, and ends at the frame", async () => {
    class Agent {
      async step(leaf: () => Promise<void>): Promise<void> {
        await leaf();
      }
    }
    const arrow = async (leaf: () => Promise<void>): Promise<void> => {
      await new Agent().step(leaf);
    };
    expect(
      await text(async function main(leaf) {
        await arrow(leaf);
      }),
    ).toBe("leaf < step < arrow < main");
  });

  it("names the functions of a call that begins before the first await", async () => {
    let lane: Lane | undefined;
    async function ask(): Promise<void> {
      lane = captureStack()?.lane();
    }
    await runProgram(async function main() {
      await ask();
    });
    expect(lane).toEqual({ names: ["ask", "main"], complete: true });
  });

  it("contains the index in all, allSettled and any, and passes through race", async () => {
    async function branch(leaf: () => Promise<void>): Promise<void> {
      await leaf();
    }
    const combined = async (combine: (values: Promise<void>[]) => Promise<unknown>): Promise<string> =>
      text(async function main(leaf) {
        await combine([sleep(5), branch(leaf)]);
      });
    expect(await combined((values) => Promise.all(values))).toBe("leaf < branch < all[1] < main");
    expect(await combined((values) => Promise.allSettled(values))).toBe("leaf < branch < allSettled[1] < main");
    expect(await combined((values) => Promise.any(values))).toBe("leaf < branch < any[1] < main");
    expect(await combined((values) => Promise.race(values))).toBe("leaf < branch < main");
  });

  it("keeps the indices of nested combinators apart", async () => {
    async function inner(leaf: () => Promise<void>): Promise<void> {
      await Promise.all([sleep(1), sleep(1), leaf()]);
    }
    expect(
      await text(async function main(leaf) {
        await Promise.allSettled([sleep(1), inner(leaf)]);
      }),
    ).toBe("leaf < all[2] < inner < allSettled[1] < main");
  });

  it("ends at the innermost frame", async () => {
    expect(
      await text(async function outer(leaf) {
        await runProgram(async function inner() {
          await leaf();
        });
      }),
    ).toBe("leaf < inner");
  });

  it("is not complete if an awaiter cannot be seen, or if there are too many", async () => {
    expect(
      await text(async function main(leaf) {
        await new Promise<void>((resolve) => setTimeout(() => void leaf().then(() => resolve()), 0));
      }),
    ).toBe("leaf …");
    async function deep(depth: number, leaf: () => Promise<void>): Promise<void> {
      if (depth === 0) await leaf();
      else await deep(depth - 1, leaf);
    }
    expect((await laneIn((leaf) => deep(40, leaf)))?.complete).toBe(true);
    expect((await laneIn((leaf) => deep(80, leaf)))?.complete).toBe(false);
  });

  it("leaves the settings of Error as they were, and uses no formatter of others", async () => {
    const before = Object.getOwnPropertyDescriptors(Error);
    const formatter = (): string => "formatted";
    try {
      Error.prepareStackTrace = formatter;
      Error.stackTraceLimit = 3;
      expect(await text((leaf) => leaf())).toBe("leaf");
      expect(Error.prepareStackTrace).toBe(formatter);
      expect(Error.stackTraceLimit).toBe(3);
      expect(new Error("x").stack).toBe("formatted");
      Reflect.deleteProperty(Error, "prepareStackTrace");
      expect(await text((leaf) => leaf())).toBe("leaf");
      expect(Object.hasOwn(Error, "prepareStackTrace")).toBe(false);
    } finally {
      Object.defineProperties(Error, before);
    }
  });

  it("shortens long names", async () => {
    const long = "x".repeat(1000);
    const named = { [long]: async (leaf: () => Promise<void>): Promise<void> => await leaf() };
    expect((await laneIn(async (leaf) => named[long]?.(leaf)))?.names[1]).toHaveLength(64);
  });
});
