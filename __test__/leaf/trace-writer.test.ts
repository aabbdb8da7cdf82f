import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isTraceWriteError } from "../../ts/errors/index.js";
import { createEventBus } from "../../ts/events/bus.js";
import { collectTrace } from "../../ts/trace/collect.js";
import { createTraceWriter, type TraceSync } from "../../ts/trace/writer.js";
import type { TraceEvent } from "../../ts/types/events.js";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agent-rewind-trace-"));
  path = join(folder, "trace.jsonl");
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  vi.restoreAllMocks();
});

function event(fields: object = {}): TraceEvent {
  return {
    type: "sys:log",
    schemaVersion: 1,
    timestamp: 1,
    trace: { traceId: "t", spanId: "s", parentSpanId: "" },
    level: "info",
    message: "m",
    args: [],
    ...fields,
  };
}

function lines(file = path): any[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
}

function silenced(): ReturnType<typeof vi.spyOn> {
  return vi.spyOn(console, "warn").mockImplementation(() => {});
}

const MODES: TraceSync[] = ["off", "batch", "each"];

describe.each(MODES)("createTraceWriter with sync %o", (sync) => {
  it("appends one line per event, in order", async () => {
    // With sync, each event takes some milliseconds.
    const count = sync === "each" ? 50 : 3000;
    const writer = createTraceWriter(path, { sync });
    for (let _seq = 0; _seq < count; _seq++) writer.emit(event({ _seq, message: "x".repeat(300) }));
    await writer.flush();
    expect(lines().map(({ _seq }) => _seq as number)).toEqual(Array.from({ length: count }, (_, index) => index));
    writer.emit(event({ _seq: count }));
    await writer.close();
    expect(lines()).toHaveLength(count + 1);
  });

  it("writes without an explicit flush", async () => {
    const writer = createTraceWriter(path, { sync });
    writer.emit(event());
    await vi.waitFor(() => expect(lines()).toHaveLength(1), 10_000);
    writer.emit(event());
    await vi.waitFor(() => expect(lines()).toHaveLength(2), 10_000);
    await writer.close();
  });

  it("appends to an existing file and starts a new line after a truncated one", async () => {
    writeFileSync(path, '{"a":1}\n{"cut":"of');
    const writer = createTraceWriter(path, { sync });
    writer.emit(event({ _seq: 7 }));
    await writer.close();
    const [first, cut, last] = readFileSync(path, "utf8").split("\n");
    expect([first, cut]).toEqual(['{"a":1}', '{"cut":"of']);
    expect(JSON.parse(last ?? "")).toMatchObject({ _seq: 7 });
    const again = createTraceWriter(path, { sync });
    again.emit(event({ _seq: 8 }));
    await again.close();
    expect(readFileSync(path, "utf8")).not.toContain("\n\n");
  });

  it("keeps events that could not be written, reports the failure, and writes them when it can", async () => {
    const warn = silenced();
    const blocked = join(folder, "no-folder", "trace.jsonl");
    writeFileSync(join(folder, "no-folder"), "a file is in the way");
    const writer = createTraceWriter(blocked, { sync });
    writer.emit(event({ _seq: 0 }));
    writer.emit(event({ _seq: 1 }));
    const error: unknown = await writer.flush().catch((thrown: unknown) => thrown);
    expect(isTraceWriteError(error)).toBe(true);
    expect(error).toMatchObject({ path: blocked, code: "ERR_REWIND_TRACE_WRITE" });
    expect(warn).toHaveBeenCalledTimes(1);
    rmSync(join(folder, "no-folder"));
    mkdirSync(join(folder, "no-folder"));
    await writer.close();
    expect(lines(blocked).map(({ _seq }) => _seq as number)).toEqual([0, 1]);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it("rejects close if the file cannot be written to the end", async () => {
    silenced();
    const writer = createTraceWriter(folder, { sync });
    writer.emit(event());
    await expect(writer.close()).rejects.toMatchObject({ name: "TraceWriteError" });
    await expect(writer.close()).rejects.toMatchObject({ name: "TraceWriteError" });
  });

  it.each<[string, string, (file: string) => void]>([
    ["deleted", "deleted or moved", (file) => rmSync(file)],
    ["rotated", "deleted or moved", (file) => renameSync(file, `${file}.1`)],
    ["replaced", "replaced by another file", (file) => [renameSync(file, `${file}.1`), writeFileSync(file, "")]],
    ["in a deleted folder", "deleted or moved", (file) => rmSync(dirname(file), { recursive: true })],
  ])("rejects flush and close if its file is %s", async (_how, what, change) => {
    const warn = silenced();
    const writer = createTraceWriter(path, { sync });
    writer.emit(event());
    await writer.flush();
    change(path);
    writer.emit(event());
    const failure = { name: "TraceWriteError", message: expect.stringContaining(what) as string };
    await expect(writer.flush()).rejects.toMatchObject(failure);
    await expect(writer.close()).rejects.toMatchObject(failure);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it.each([null, undefined, 5, "event"])("ignores %j, which is not an event, with a warning", async (value) => {
    const warn = silenced();
    const writer = createTraceWriter(path, { sync });
    writer.emit(value as never);
    writer.emit(event());
    await writer.close();
    expect(lines()).toHaveLength(1);
    expect(warn).toHaveBeenCalledTimes(1);
  });

  it("ignores events after close", async () => {
    const warn = silenced();
    const writer = createTraceWriter(path, { sync });
    writer.emit(event());
    await writer.close();
    writer.emit(event());
    writer.emit(event());
    await writer.flush();
    expect(lines()).toHaveLength(1);
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

describe("createTraceWriter", () => {
  it('writes before emit returns with sync "each"', () => {
    const writer = createTraceWriter(path, { sync: "each" });
    writer.emit(event());
    expect(lines()).toHaveLength(1);
    void writer.close();
  });

  it("has written and synced all events by default when flush resolves", async () => {
    const writer = createTraceWriter(path);
    const flushed: Promise<void>[] = [];
    for (let count = 1; count <= 20; count++) {
      writer.emit(event());
      flushed.push(writer.flush().then(() => expect(lines().length).toBeGreaterThanOrEqual(count)));
      if (count % 3 === 0) await new Promise(setImmediate);
    }
    await Promise.all(flushed);
    await writer.close();
  });

  it("drops events instead of growing without limit, and writes a gap event in their place", async () => {
    const line = Buffer.byteLength(`${JSON.stringify(event({ _seq: 0 }))}\n`);
    const writer = createTraceWriter(path, { maxBuffered: 3 * line });
    for (let _seq = 0; _seq < 8; _seq++) writer.emit(event({ _seq }));
    await writer.flush();
    writer.emit(event({ _seq: 8 }));
    await writer.close();
    const [a, b, c, gap, last] = lines();
    expect([a, b, c, last].map(({ _seq }) => _seq as number)).toEqual([0, 1, 2, 8]);
    expect(gap).toEqual({ type: "gap", count: 5, schemaVersion: 1, timestamp: expect.any(Number) as unknown });
  });

  it("accepts an event larger than the buffer", async () => {
    const writer = createTraceWriter(path, { maxBuffered: 10 });
    writer.emit(event({ _seq: 0 }));
    await writer.close();
    expect(lines()).toHaveLength(1);
  });

  it("drops nothing in a burst that the disk can handle", async () => {
    const writer = createTraceWriter(path, { sync: "off", maxBuffered: 512 * 1024 });
    for (let _seq = 0; _seq < 4000; _seq++) writer.emit(event({ _seq, message: "x".repeat(1000) }));
    await writer.close();
    expect(lines()).toHaveLength(4000);
  });

  it("writes events that JSON.stringify rejects, and adds types where the event has a field for them", async () => {
    const cycle: Record<string, unknown> = { n: 1 };
    cycle["self"] = cycle;
    const writer = createTraceWriter(path);
    const call = { type: "tool:call:end", toolName: "t", input: { big: 1n } };
    writer.emit(event({ ...call, output: { id: 5n, at: new Date(0) }, skipped: undefined }));
    writer.emit(event({ ...call, input: cycle, output: 1 }));
    writer.emit(event({ type: "call:end", output: new Map([[1, 2]]) }));
    writer.emit(event({ type: "call:end", output: "2", outputTypes: { "": "bigint" } }));
    writer.emit(event({ args: [() => 1] }));
    await writer.close();
    const [typed, marked, map, given] = lines();
    expect(typed).toMatchObject({
      input: { big: "1" },
      output: { id: "5", at: "1970-01-01T00:00:00.000Z" },
      outputTypes: { "/id": "bigint", "/at": "date" },
    });
    expect(typed).not.toHaveProperty("skipped");
    expect(marked).toMatchObject({
      input: { n: 1, self: expect.stringMatching(/^\[reference/) as unknown },
      output: 1,
    });
    expect(map).toMatchObject({ output: [[1, 2]], outputTypes: { "": "map" } });
    expect(given).toMatchObject({ output: "2", outputTypes: { "": "bigint" } });
    expect(lines()).toHaveLength(5);
  });

  it("writes an event as it was when it was emitted", async () => {
    const writer = createTraceWriter(path);
    const changing = event({ message: "before" });
    writer.emit(changing);
    (changing as { message: string }).message = "after";
    await writer.close();
    expect(lines()[0]).toMatchObject({ message: "before" });
  });

  it("accepts a file URL, works as an unbound bus subscriber, and is disposable", async () => {
    const bus = createEventBus();
    {
      await using writer = createTraceWriter(pathToFileURL(path));
      expect(writer.path).toBe(path);
      bus.subscribe("*", writer.emit);
      bus.emit(event());
    }
    expect(lines()).toHaveLength(1);
  });

  it("rejects wrong options", () => {
    expect(() => createTraceWriter(path, { sync: "always" as TraceSync })).toThrow(/"off", "batch" or "each"/);
    expect(() => createTraceWriter(path, { maxBuffered: 0 })).toThrow(RangeError);
    expect(existsSync(path)).toBe(false);
  });

  it("uses one exit listener for all writers and removes it with the last one", async () => {
    const before = process.listenerCount("exit");
    const writers = Array.from({ length: 20 }, (_, index) => createTraceWriter(join(folder, `${index}.jsonl`)));
    expect(process.listenerCount("exit")).toBe(before + 1);
    await Promise.all(writers.map((writer) => writer.close()));
    expect(process.listenerCount("exit")).toBe(before);
  });

  it("does not break a line of another writer", async () => {
    const writer = createTraceWriter(path, { sync: "each" });
    writer.emit(event({ _seq: 0 }));
    appendFileSync(path, '{"other":1}\n');
    writer.emit(event({ _seq: 1 }));
    await writer.close();
    expect(lines()).toHaveLength(3);
  });
});

describe.each(["off", "batch"] as const)("createTraceWriter at the end of the process, with sync %o", (sync) => {
  function run(end: string): ReturnType<typeof spawnSync> {
    const script = join(folder, "run.test.mjs");
    const source = new URL("../../ts/trace/writer.ts", import.meta.url);
    writeFileSync(
      script,
      `import { createServer } from ${JSON.stringify(import.meta.resolve("vite"))};
       const server = await createServer({ server: { middlewareMode: true, watch: null }, appType: "custom", logLevel: "silent", optimizeDeps: { noDiscovery: true } });
       const { createTraceWriter } = await server.ssrLoadModule(${JSON.stringify(source.pathname)});
       const writer = createTraceWriter(${JSON.stringify(path)}, { sync: ${JSON.stringify(sync)} });
       for (let _seq = 0; _seq < 5; _seq++) writer.emit({ type: "sys:log", _seq });
       ${end}`,
    );
    return spawnSync(process.execPath, [script], { cwd: new URL("../..", import.meta.url), encoding: "utf8" });
  }

  it("writes buffered events on process.exit", () => {
    expect(run("process.exit(3);").status).toBe(3);
    expect(lines()).toHaveLength(5);
  });

  it("loses no flushed event on SIGKILL", () => {
    run('await writer.flush(); writer.emit({ type: "sys:log", _seq: 5 }); process.kill(process.pid, "SIGKILL");');
    expect(
      lines()
        .slice(0, 5)
        .map(({ _seq }) => _seq as number),
    ).toEqual([0, 1, 2, 3, 4]);
  });
});

describe("collectTrace", () => {
  it("collects the events of a bus until it is stopped", () => {
    const bus = createEventBus();
    const trace = collectTrace(bus);
    const first = event({ _seq: 0 });
    bus.emit(first);
    expect(trace.events).toEqual([first]);
    expect(trace.stop()).toBe(trace.events);
    bus.emit(event({ _seq: 1 }));
    expect(trace.events).toHaveLength(1);
    expect(bus.hasSubscribers).toBe(false);
  });

  it("stops at the end of its using block", () => {
    const bus = createEventBus();
    {
      using trace = collectTrace(bus);
      bus.emit(event());
      expect(trace.events).toHaveLength(1);
    }
    expect(bus.hasSubscribers).toBe(false);
  });
});
