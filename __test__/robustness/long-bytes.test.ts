// Snapshots and traces of some megabytes as bytes: they are looked at in halves, at the same time.

import { journalCall, runWith, type AgentSnapshot, type TraceEvent } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";

const BYTES = 5_000_000;
const call = { kind: "page", name: "page", request: {} };

/** A run of one call, as bytes of a snapshot and of a trace. */
async function recorded(answer: string): Promise<{ snapshot: Buffer; trace: Buffer }> {
  const lines: string[] = [];
  const emit = (event: TraceEvent): void => void lines.push(`${JSON.stringify(event)}\n`);
  const program = async (): Promise<string> => {
    await journalCall(call, () => answer);
    return stringifySnapshot(dumpSnapshot());
  };
  const snapshot = await runWith(program, { eventBus: { emit }, enableSnapshot: true });
  // The end of the run has its result, the snapshot's text.
  const trace = lines.filter((line) => !line.startsWith('{"type":"runWith:end"'));
  return { snapshot: Buffer.from(snapshot), trace: Buffer.from(trace.join("")) };
}

const answered = (snapshot: AgentSnapshot): Promise<string> =>
  runWith(() => journalCall(call, () => "made again"), { snapshot, mode: "replay" });

describe.each(["a", "é", "世", "👋"])("long texts of %s", (character) => {
  it.each([0, 1, 2, 3])("behind %i other bytes", async (shift) => {
    const answer = "x".repeat(shift) + character.repeat(BYTES / Buffer.byteLength(character));
    const { snapshot, trace } = await recorded(answer);
    expect((await answered(parseSnapshot(snapshot))) === answer).toBe(true);
    expect((await answered(restoreSnapshot(trace))) === answer).toBe(true);
  });
});

it.each([1 / 4, 1 / 2, 3 / 4])("a byte that is no UTF-8, at %f of the text, becomes U+FFFD", async (place) => {
  const answer = "x".repeat(BYTES);
  for (const [read, bytes] of Object.entries(await recorded(answer))) {
    bytes[Math.floor(bytes.length * place)] = 0xff;
    const given = await answered(read === "trace" ? restoreSnapshot(bytes) : parseSnapshot(bytes));
    expect(given).toHaveLength(BYTES);
    expect(given.replace(/x+/g, "x")).toBe("x\ufffdx");
  }
});
