import {
  ContextNotFoundError,
  getContext,
  isContextNotFoundError,
  isSnapshotDisabledError,
  journalCall,
  runFrame,
  runWith,
  type AgentSnapshot,
  type TraceEvent,
} from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";
import { afterEach, describe, expect, it, vi } from "vitest";

afterEach(() => vi.unstubAllEnvs());

function inEnvironment(value: string | undefined): void {
  vi.stubEnv("NODE_ENV", value);
}

const ask = (answer: number): Promise<number> => journalCall({ kind: "step", name: "ask", request: "q" }, () => answer);

async function recording(): Promise<AgentSnapshot> {
  return runWith(
    async () => {
      await ask(1);
      return dumpSnapshot();
    },
    { enableSnapshot: true },
  );
}

async function isOn(
  options: Parameters<typeof runWith>[1] = {},
): Promise<{ context: boolean | undefined; event: unknown }> {
  const events: TraceEvent[] = [];
  const context = await runWith(() => getContext()?.enableSnapshot, {
    ...options,
    eventBus: { emit: (event) => void events.push(event) },
  });
  const start = events.find(({ type }) => type === "runWith:start") as
    | { config?: { enableSnapshot?: unknown } }
    | undefined;
  return { context, event: start?.config?.enableSnapshot };
}

describe("enableSnapshot", () => {
  it.each([
    ["development", true],
    ["test", true],
    ["production", false],
    ["staging", true],
    ["", true],
    [undefined, true],
  ])("with NODE_ENV %s is %s, read when the run starts, unless it is given", async (environment, on) => {
    inEnvironment(environment);
    expect(await isOn()).toEqual({ context: on, event: on });
    expect(await isOn({ enableSnapshot: !on })).toEqual({ context: !on, event: !on });
  });

  it.each([
    ["production", {}],
    [undefined, { enableSnapshot: false }],
  ])("makes dumpSnapshot throw where it is off (NODE_ENV %s, options %o)", async (environment, options) => {
    inEnvironment(environment);
    await runWith(() => {
      try {
        dumpSnapshot();
        expect.unreachable();
      } catch (error) {
        expect(isSnapshotDisabledError(error)).toBe(true);
        expect(error).toMatchObject({
          name: "SnapshotDisabledError",
          code: "ERR_REWIND_SNAPSHOT_DISABLED",
          source: "dump",
          message: expect.stringContaining('if NODE_ENV is "production"') as string,
        });
      }
    }, options);
  });

  it.each([undefined, "", "staging"])("with NODE_ENV %o, dumps and replays without an option", async (environment) => {
    inEnvironment(environment);
    const snapshot = await runWith(async () => {
      await ask(1);
      return dumpSnapshot();
    });
    expect(await runWith(() => ask(2), { snapshot })).toBe(1);
  });

  it("covers an agent that is called outside of a run", async () => {
    const outside = async (environment: string | undefined): Promise<boolean | undefined> => {
      inEnvironment(environment);
      return runFrame({ id: "alone", input: null }, () => getContext()?.enableSnapshot);
    };
    expect(await outside(undefined)).toBe(true);
    expect(await outside("production")).toBe(false);
  });

  it("rejects a snapshot in production before anything runs and says how to allow it", async () => {
    const snapshot = await recording();
    inEnvironment("production");
    let ran = false;
    const run = (options: object): Promise<unknown> =>
      runWith(
        async () => {
          ran = true;
          return ask(2);
        },
        { snapshot, ...options },
      );
    await expect(run({})).rejects.toThrow(/enableSnapshot: true/);
    await expect(run({ enableSnapshot: false })).rejects.toSatisfy(isSnapshotDisabledError);
    expect(ran).toBe(false);
    expect(await run({ enableSnapshot: true })).toBe(1);
  });

  it("still replays a given snapshot, occurrence by occurrence, when it is off; only dumping is off", async () => {
    const snapshot = await recording();
    await runWith(
      async () => {
        expect(await ask(2)).toBe(1);
        expect(await ask(2)).toBe(2);
        expect(() => dumpSnapshot()).toThrow(/enableSnapshot/);
      },
      { snapshot, enableSnapshot: false },
    );
  });

  it("has no effect outside of a run, where there is nothing to dump", () => {
    try {
      dumpSnapshot();
      expect.unreachable();
    } catch (error) {
      expect(isContextNotFoundError(error)).toBe(true);
      expect(error).toBeInstanceOf(ContextNotFoundError);
    }
  });
});
