import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { isRecordingMissingError, isRecordingStaleError, journalCall } from "agent-rewind";
import { rewindFetch } from "agent-rewind/fetch";
import { withRecording } from "agent-rewind/testing";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { modelServer } from "../support/model-server.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "with-recording-"));
  vi.stubEnv("CI", "");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const file = (): string => join(folder, "recordings", "a.jsonl");
const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

it("records a client once and replays it without the server", async () => {
  let url: string;
  const ask = async (path: string): Promise<string> => (await rewindFetch()(`${url}/${path}`)).text();
  {
    await using live = await modelServer(({ path }, index) => ({ body: `got ${path} #${index}` }));
    ({ url } = live);
    const seen = await withRecording(file(), async ({ mode, calls }) => {
      expect([mode, calls.length]).toEqual(["once", 0]);
      return [await ask("one"), await ask("one")];
    });
    expect(seen).toEqual(["got /one #0", "got /one #1"]);
    expect(live.requests).toHaveLength(2);
  }
  expect(readdirSync(join(folder, "recordings"))).toEqual(["a.jsonl", "a.lock"]);
  vi.stubEnv("CI", "true");
  const again = await withRecording(pathToFileURL(file()), async (recording) => {
    const texts = [await ask("one"), await ask("one")];
    expect(recording.calls.map(({ replayed }) => replayed)).toEqual([true, true]);
    return texts;
  });
  expect(again).toEqual(["got /one #0", "got /one #1"]);
});

it("rejects a changed call at once, and AGENT_REWIND_MODE=update makes only that one", async () => {
  const made: string[] = [];
  const say = (content: string): Promise<string> =>
    journalCall({ kind: "chat", name: "m", request: { messages: [{ role: "user", content }] } }, () => {
      made.push(content);
      return `answer to ${content}`;
    });
  const program = (words: readonly string[]) => async (): Promise<void> => {
    for (const word of words) await say(word).catch(() => {});
  };
  expect(isRecordingMissingError(await caught(withRecording(file(), { mode: "replay" }, program(["a"]))))).toBe(true);
  await withRecording(file(), program(["first", "second", "third"]));
  expect(made.splice(0)).toEqual(["first", "second", "third"]);
  const before = readFileSync(file(), "utf8");

  const error = await caught(withRecording(file(), program(["first", "second, changed", "third"])));
  expect(isRecordingStaleError(error)).toBe(true);
  expect((error as Error).message).toBe(
    'messages[0].content (user) changed in the chat call "m".\n\n- second\n+ second, changed\n\n' +
      "If the change is intended, accept it with `AGENT_REWIND_MODE=update`.",
  );
  // The place of the call, and nothing of the package.
  expect((error as Error).stack).toMatch(/\n    at .*say.*with-recording\.test\.ts:\d+:\d+\)$/);
  expect(error).toMatchObject({
    call: { pointer: "/input/messages/0/content", before: '"second"', after: '"second, changed"' },
  });
  expect([made, readFileSync(file(), "utf8")]).toEqual([[], before]);

  vi.stubEnv("AGENT_REWIND_MODE", "update");
  await withRecording(file(), program(["first", "second, changed", "third"]));
  expect(made.splice(0)).toEqual(["second, changed"]);
  const accepted = readFileSync(file(), "utf8");
  await withRecording(file(), program(["first", "second, changed", "third"]));
  expect([made, readFileSync(file(), "utf8")]).toEqual([[], accepted]);
});

it("names a secret by its place, once, and writes nothing", async () => {
  const key = `sk-proj-${"a1B2".repeat(8)}`;
  const call = (n: number): Promise<string> =>
    journalCall({ kind: "chat", name: "m", request: { n, content: `my key ${key}` } }, () => "thanks");
  const program = async (): Promise<void> => {
    await call(1);
    await call(2);
  };
  const error = await caught(withRecording(file(), program));
  expect(error).toMatchObject({
    name: "SecretInRecordingError",
    secrets: [{ rule: "openai-key", place: "root/chat:m:0", pointer: "/request/input/content" }],
  });
  expect((error as Error).message).toContain('allowSecrets: ["openai-key"]');
  expect(readdirSync(folder)).toEqual([]);
  await withRecording(file(), { allowSecrets: ["openai-key"] }, program);
  expect(readFileSync(file(), "utf8")).toContain(key);
});

it("checks its arguments", async () => {
  await expect(withRecording(file(), undefined as never)).rejects.toThrow("withRecording: fn must be a function");
  await expect(withRecording(file(), { mode: "sometimes" as never }, () => 1)).rejects.toThrow(
    "recording: options.mode must be one of replay, update, record",
  );
});
