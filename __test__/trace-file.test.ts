// The content of the trace file of a run, and the events read from it.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  createAgent,
  equipInstruction,
  equipTool,
  isTraceReadError,
  promptAgent,
  runWith,
  type Message,
  type TraceEvent,
  type TraceReadError,
} from "agent-rewind";
import {
  createTraceWriter,
  exportTrace,
  readTrace,
  restoreSnapshot,
  restoreSnapshotFromFile,
} from "agent-rewind/debugger";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";

import { result, scriptedModel, toolCall } from "./support/scripted-model.js";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "agent-rewind-trace-file-"));
  path = join(folder, "trace.jsonl");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** An agent that uses its tool a given number of times, each for 1 KB of text. Returns the events from the bus. */
async function recordTurns(turns: number, change?: (event: TraceEvent) => TraceEvent): Promise<TraceEvent[]> {
  const events: TraceEvent[] = [];
  const writer = createTraceWriter(path);
  const model = scriptedModel("turner", (messages) => {
    const done = messages.filter(({ role }) => role === "tool").length;
    return done < turns - 1 ? toolCall(`call_${done}`, "page", { number: done }) : result("read");
  });
  const reader = createAgent({
    id: "reader",
    maxTurnSteps: turns + 1,
    handler: async () => {
      equipInstruction("Read the book");
      equipTool({
        name: "page",
        description: "A page",
        parameters: z.object({ number: z.number() }),
        handler: ({ number }: { number: number }) => `page ${number} ${"x".repeat(1000)}`,
      });
      return (await promptAgent(z.object({ result: z.string() }))).result;
    },
  });
  const emit = (event: TraceEvent): void => {
    events.push(event);
    writer.emit(change === undefined ? event : change(event));
  };
  await runWith(() => Promise.all([reader(), reader()]), { model, eventBus: { emit } });
  await writer.close();
  return events;
}

async function all(options?: Parameters<typeof readTrace>[1]): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of readTrace(path, options)) events.push(event);
  return events;
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const linesOf = (file: string): string[] => readFileSync(file, "utf8").trimEnd().split("\n");
const isTurn = ({ type }: TraceEvent): boolean => type === "turn:start" || type === "turn:end";

describe("a trace file", () => {
  it("is read as the events that were emitted", async () => {
    const events = await recordTurns(8);
    expect(await all()).toEqual(asJson(events));
    expect(JSON.stringify(await all())).toBe(JSON.stringify(events));
  });

  it("contains each message of a conversation once", async () => {
    await recordTurns(12);
    const text = readFileSync(path, "utf8");
    for (let page = 0; page < 11; page++) {
      // Once per agent. The events of the tools contain the text too, but are not counted here.
      const inMessages = text.split("\n").filter((line) => line.includes(`"turn:`) && line.includes(`page ${page} x`));
      expect(inMessages).toHaveLength(2);
    }
  });

  it("grows linearly with the number of turns", async () => {
    await recordTurns(10);
    const short = statSync(path).size;
    rmSync(path);
    await recordTurns(40);
    expect(statSync(path).size / short).toBeLessThan(4.5);
  });

  it("restores like the events in memory", async () => {
    const events = await recordTurns(6);
    const fromFile = await restoreSnapshotFromFile(path);
    expect(fromFile.root).toEqual(restoreSnapshot(events).root);
    expect(Object.keys(fromFile.root.children)).toHaveLength(2);
  });

  it("can be exported in full", async () => {
    const events = await recordTurns(6);
    const full = join(folder, "full.jsonl");
    await exportTrace(path, full);
    expect(linesOf(full)).toEqual(events.map((event) => JSON.stringify(event)));
    expect(linesOf(path)).not.toEqual(linesOf(full));
  });

  it("contains a conversation in full if its messages are not the earlier ones", async () => {
    // Equal but not identical, and changed.
    const copied = (event: TraceEvent): TraceEvent => (isTurn(event) ? (asJson(event) as TraceEvent) : event);
    await recordTurns(3, copied);
    expect(linesOf(path).filter((line) => line.includes("messagesDelta"))).toEqual([]);
    rmSync(path);
    let seen = 0;
    const edited = (event: TraceEvent): TraceEvent => {
      if (event.type !== "turn:start" || ++seen < 5) return event;
      const first: Message = { role: "system", content: "another" };
      return { ...event, messages: [first, ...event.messages.slice(1)] };
    };
    await recordTurns(4, edited);
    const read = (await all()) as (TraceEvent & { messages: Message[] })[];
    expect(read.filter(isTurn).some(({ messages }) => messages[0]?.content === "another")).toBe(true);
  });

  it("keeps the state of each moment of messages that are changed and of a list that grows", async () => {
    const writer = createTraceWriter(path);
    const said: string[] = [];
    const messages: Message[] = [{ role: "user", content: "one" }];
    const say = (): void => {
      said.push(JSON.stringify(messages));
      writer.emit({ type: "turn:start", trace: { traceId: "t", spanId: "s" }, messages } as unknown as TraceEvent);
    };
    say();
    for (const message of messages) Object.freeze(Object.assign(message, { content: "two" }));
    say();
    say();
    messages.push(Object.freeze<Message>({ role: "user", content: "three" }));
    say();
    messages[0] = Object.freeze<Message>({ role: "user", content: "four" });
    say();
    messages.pop();
    say();
    await writer.close();
    const read = (await all()) as { messages: Message[] }[];
    expect(read.map((event) => JSON.stringify(event.messages))).toEqual(said);
    expect(linesOf(path).filter((line) => line.includes("messagesDelta"))).toHaveLength(2);
  });
});

describe("a gap in a trace file", () => {
  async function faultsWithout(keep: (line: string, index: number) => boolean): Promise<string[]> {
    await recordTurns(5);
    writeFileSync(path, linesOf(path).filter(keep).join("\n"));
    const faults: TraceReadError[] = [];
    const read = (await all({ onFault: (fault) => faults.push(fault) })) as TraceEvent[];
    expect(faults.every((fault) => isTraceReadError(fault) && fault.path === path)).toBe(true);
    // The remaining part of such a turn is returned.
    expect(read.filter((event) => "messagesDelta" in event)).toHaveLength(faults.length);
    return faults.map(({ message }) => message.replace(/^.*cannot be read: /, ""));
  }

  it("is reported where a turn is missing that others build on", async () => {
    let turns = 0;
    const faults = await faultsWithout(
      (line) => !(line.includes('"turn:start"') && line.includes("Delta") && ++turns === 1),
    );
    expect(faults[0]).toMatch(/^it adds to \d+ messages, but the turns before it have \d+\./);
  });

  it("is reported where the first turn is missing", async () => {
    const faults = await faultsWithout((line) => !line.includes('"messages":'));
    expect(faults[0]).toMatch(/^it adds to \d+ messages, but the turn with these messages is not in the file\./);
  });

  it("is reported where a message was changed", async () => {
    await recordTurns(5);
    let done = false;
    const changed = linesOf(path).map((line) => {
      if (done || !line.includes('"messages":')) return line;
      done = true;
      return line.replace("Read the book", "Burn the book");
    });
    writeFileSync(path, changed.join("\n"));
    await expect(all()).rejects.toThrow("the messages that it adds to differ from those of the turns before it");
  });

  it("is thrown with its line number if no warning callback is given", async () => {
    await recordTurns(2);
    writeFileSync(path, `${linesOf(path).join("\n")}\n{"type":"turn:st`);
    const count = linesOf(path).length;
    const error = await all().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "TraceReadError", code: "ERR_REWIND_TRACE_READ", path, line: count });
  });
});

it("dropped events of the writer leave no gap in a conversation", async () => {
  const events: TraceEvent[] = [];
  const writer = createTraceWriter(path, { maxBuffered: 4_000 });
  const turn = (messages: Message[]): TraceEvent =>
    ({
      type: "turn:start",
      schemaVersion: 1,
      timestamp: 1,
      trace: { traceId: "t", spanId: "s", parentSpanId: "p" },
      messages,
    }) as unknown as TraceEvent;
  const messages: Message[] = [];
  for (let round = 0; round < 20; round++) {
    messages.push(Object.freeze<Message>({ role: "user", content: `${round}${"y".repeat(500)}` }));
    const event = turn([...messages]);
    events.push(event);
    writer.emit(event);
    // Lets the buffer drain from time to time.
    if (round % 7 === 6) await writer.flush();
  }
  await writer.close();
  const read = (await all()) as TraceEvent[];
  const kept = read.filter(isTurn);
  expect(read.some(({ type }) => (type as string) === "gap")).toBe(true);
  expect(kept.length).toBeGreaterThan(3);
  for (const event of kept) expect(events.map((emitted) => JSON.stringify(emitted))).toContain(JSON.stringify(event));
});

it("a missing trace file is an error of the file system", async () => {
  await expect(all()).rejects.toMatchObject({ code: "ENOENT" });
  await expect(exportTrace(path, join(folder, "out"))).rejects.toMatchObject({ code: "ENOENT" });
});
