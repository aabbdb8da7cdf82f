// Text of recordings, files and programs reaches the terminal with its control characters escaped.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  createEventBus,
  journalCall,
  replay,
  resume,
  RewindError,
  runWith,
  type AgentSnapshot,
  type TraceEvent,
} from "agent-rewind";
import { verifyLog } from "agent-rewind/audit";
import {
  createTraceWriter,
  dumpSnapshot,
  forkSnapshot,
  parseSnapshot,
  readSnapshot,
  readTrace,
  restoreSnapshot,
} from "agent-rewind/debugger";
import { afterAll, beforeEach, describe, expect, it, vi, type Mock } from "vitest";

// A title, a cleared screen, a C1 control, an override of the text direction, a carriage return, a tag character.
const HOSTILE = "\u001b]0;x\u0007\u001b[2J\u009b31m\u202e\r\u{e0041}";
const RAW = /[^\P{Cc}\n\t]|\p{Cf}/u;

const folder = mkdtempSync(join(tmpdir(), "rewind-printable-"));
afterAll(() => rmSync(folder, { recursive: true }));

const step = (name: string, fn: () => unknown = () => 1): Promise<unknown> =>
  journalCall({ kind: "step", name, request: { name } }, fn);
const recorded = (program: () => Promise<unknown>): Promise<AgentSnapshot> =>
  runWith(async () => {
    await program();
    return dumpSnapshot();
  });

describe("messages of errors", () => {
  it.each<[string, () => unknown]>([
    ["a miss", async () => replay(() => step(HOSTILE), { snapshot: await recorded(() => step("other")) })],
    [
      "a difference of a miss",
      async () =>
        replay(() => journalCall({ kind: "k", name: "n", request: { [HOSTILE]: HOSTILE } }, () => 1), {
          snapshot: await recorded(() => journalCall({ kind: "k", name: "n", request: { a: HOSTILE } }, () => 1)),
        }),
    ],
    [
      "a fault of a snapshot",
      () => parseSnapshot(`{"${HOSTILE.replaceAll("\u001b", "\\u001b")}":1,"root":{"callId":"\\u001b[2J"}}`),
    ],
    ["a text that is no JSON", () => parseSnapshot(`{"a": ${HOSTILE}`)],
    [
      "an event of a trace",
      () => restoreSnapshot([{ type: HOSTILE, trace: { traceId: HOSTILE } } as unknown as TraceEvent]),
    ],
    ["a span", () => restoreSnapshot('{"type":"a"}', { spanId: HOSTILE })],
    [
      "a line of a file",
      async () => {
        const path = join(folder, HOSTILE.replaceAll("/", ""));
        writeFileSync(path, `${HOSTILE}\n`);
        await readTrace(path)[Symbol.asyncIterator]().next();
      },
    ],
    ["a missing log", () => verifyLog(join(folder, `missing${HOSTILE.replaceAll("/", "")}`))],
    ["a fork", async () => forkSnapshot(await recorded(() => step("s")), { at: `root/step:${HOSTILE}:0`, drop: true })],
  ])("%s", async (_what, call) => {
    const error: unknown = await Promise.resolve()
      .then(call)
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(RewindError);
    const { message, stack } = error as Error;
    expect(message).not.toMatch(RAW);
    expect(stack?.slice(0, stack.indexOf("\n    at "))).not.toMatch(RAW);
  });
});

describe("warnings", () => {
  let warn: Mock;
  beforeEach(() => {
    warn = vi.spyOn(console, "warn").mockImplementation(() => {}) as Mock;
    return () => warn.mockRestore();
  });

  it.each<[string, () => Promise<unknown>]>([
    [
      "of a call in flight",
      async () => {
        const snapshot = await runWith(() => {
          step(HOSTILE, () => new Promise(() => {})).catch(() => {});
          return dumpSnapshot();
        });
        await resume(() => 1, { snapshot });
      },
    ],
    [
      "of a result that is not recorded",
      () => runWith(() => step(`not recorded ${HOSTILE}`, () => ({ [HOSTILE]: () => 1 }))),
    ],
    [
      "of an observer",
      () =>
        runWith(() => 1, {
          onReport: () => {
            throw new Error(HOSTILE);
          },
        }),
    ],
    [
      "of a subscriber",
      async () => {
        const bus = createEventBus();
        bus.subscribe("*", () => {
          throw Object.assign(new Error("subscriber"), { details: HOSTILE, cause: new Error(HOSTILE) });
        });
        await runWith(() => step(HOSTILE), { eventBus: bus });
      },
    ],
    [
      "of a trace file",
      async () => {
        const writer = createTraceWriter(join(folder, `missing${HOSTILE.replaceAll("/", "")}`, "\0"));
        writer.emit({ type: "x" } as never);
        await writer.close().catch(() => {});
      },
    ],
  ])("%s", async (_what, run) => {
    await run();
    expect(warn).toHaveBeenCalled();
    for (const part of warn.mock.calls.flat()) expect(typeof part === "string" ? part : String(part)).not.toMatch(RAW);
  });

  it("keep an error that prints nothing unusual as it is", async () => {
    const error = new Error("plain\nwith a second line");
    await runWith(() => 1, {
      onEnd: () => {
        throw error;
      },
    });
    expect(warn).toHaveBeenCalledWith(expect.stringContaining("options.onEnd threw"), error);
  });
});

it("a missing snapshot keeps the error of the file system", async () => {
  await expect(readSnapshot(join(folder, "none"))).rejects.toMatchObject({ code: "ENOENT" });
});
