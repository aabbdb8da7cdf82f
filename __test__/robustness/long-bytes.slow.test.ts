// Snapshots and traces of several megabytes as bytes. Their two halves are checked in parallel.

import { isInvalidSnapshotError, journalCall, runWith, type AgentSnapshot, type TraceEvent } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";

const BYTES = 5_000_000;
const call = { kind: "page", name: "page", request: {} };

/** A run of one call, as the bytes of a snapshot and of a trace. */
async function recorded(answer: string): Promise<{ snapshot: Buffer; trace: Buffer }> {
  const lines: string[] = [];
  const emit = (event: TraceEvent): void => void lines.push(`${JSON.stringify(event)}\n`);
  const program = async (): Promise<string> => {
    await journalCall(call, () => answer);
    return stringifySnapshot(dumpSnapshot());
  };
  const snapshot = await runWith(program, { eventBus: { emit }, enableSnapshot: true });
  // The end event of the run contains its result, the snapshot's text.
  const trace = lines.filter((line) => !line.startsWith('{"type":"runWith:end"'));
  return { snapshot: Buffer.from(snapshot), trace: Buffer.from(trace.join("")) };
}

const answered = (snapshot: AgentSnapshot): Promise<string> =>
  runWith(() => journalCall(call, () => "executed again"), { snapshot, mode: "replay" });

describe.each(["a", "é", "世", "👋"])("long texts of %s", (character) => {
  it.each([0, 1, 2, 3])("are read after %i other bytes", async (shift) => {
    const answer = "x".repeat(shift) + character.repeat(BYTES / Buffer.byteLength(character));
    const { snapshot, trace } = await recorded(answer);
    expect((await answered(parseSnapshot(snapshot))) === answer).toBe(true);
    expect((await answered(restoreSnapshot(trace))) === answer).toBe(true);
  });
});

describe.each([1 / 4, 1 / 2, 3 / 4])("an invalid UTF-8 byte at %f of the text", (place) => {
  it.each([30, BYTES])("is an error in a snapshot and becomes U+FFFD in a trace (%i bytes)", async (length) => {
    const { snapshot, trace } = await recorded("x".repeat(length));
    const offset = Math.floor(snapshot.length * place);
    snapshot[offset] = 0xff;
    const refused = (error: unknown): boolean =>
      isInvalidSnapshotError(error) && error.message.includes(`not valid UTF-8 at byte ${offset}`);
    expect(() => parseSnapshot(snapshot)).toThrow(expect.toSatisfy(refused));
    const at = trace.lastIndexOf("xxx");
    trace[at] = 0xff;
    expect(await answered(restoreSnapshot(trace))).toHaveLength(length);
    expect((await answered(restoreSnapshot(trace))).replace(/x+/g, "x")).toBe("x\ufffdx");
  });
});
