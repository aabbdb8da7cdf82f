// Aborted bodies: the error they fail with, and bodies that had ended before the abort.
import { journalCall, replay } from "agent-rewind";
import { rewindFetch } from "agent-rewind/fetch";
import { expect, it } from "vitest";

import { recorded, settle } from "../support/manual-fetch.js";

it("keeps the first failure of a body that is aborted after it failed and read after that", async () => {
  let broken: ReadableStreamDefaultController<Uint8Array> | undefined;
  const respond = async (_input: unknown, init?: RequestInit): Promise<Response> => {
    const { signal } = init ?? {};
    const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      broken = controller;
      signal?.addEventListener("abort", () => controller.error(signal.reason));
    };
    return new Response(new ReadableStream({ start }));
  };
  const program = (fails: boolean) => async (): Promise<string> => {
    const aborter = new AbortController();
    const response = await rewindFetch(respond)("http://host/", { signal: aborter.signal });
    await journalCall(
      { kind: "step", name: "between", request: {} },
      () => fails && broken?.error(new TypeError("cut")),
    );
    aborter.abort();
    return response.text().catch(({ name, message }: Error) => `${name}: ${message}`);
  };
  for (const fails of [true, false]) {
    const { value, snapshots } = await recorded(program(fails));
    expect(value).toBe(fails ? "TypeError: cut" : "AbortError: This operation was aborted");
    for (const snapshot of snapshots) expect(await replay(program(fails), { snapshot })).toBe(value);
  }
});

it.each([
  ["a time-out", () => AbortSignal.timeout(5), "TimeoutError"],
  ["an error", () => AbortSignal.abort(new RangeError("enough")), "RangeError: enough"],
  ["none", () => AbortSignal.abort(), "AbortError: This operation was aborted"],
])("replays the reason of the abort: %s", async (_, signalOf, expected) => {
  const respond = async (_input: unknown, init?: RequestInit): Promise<Response> => {
    const { signal } = init ?? {};
    const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      controller.enqueue(Buffer.from("part"));
      signal?.addEventListener("abort", () => controller.error(signal.reason));
    };
    return new Response(new ReadableStream({ start }));
  };
  const program = async (): Promise<string> => {
    const aborter = new AbortController();
    const response = await rewindFetch(respond)("http://host/", { signal: aborter.signal });
    const text = response.text().catch(({ name, message }: Error) => `${name}: ${message}`);
    await settle();
    const signal = signalOf();
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    aborter.abort(signal.reason);
    return text;
  };
  const { value, snapshots } = await recorded(program);
  expect(value).toMatch(expected);
  for (const snapshot of snapshots) expect(await replay(program, { snapshot })).toBe(value);
});

it("reads an empty body that arrived before the abort", async () => {
  const fetch = rewindFetch(async () => new Response(""));
  const program = async (): Promise<string> => {
    const controller = new AbortController();
    const response = await fetch("http://host/", { signal: controller.signal });
    controller.abort();
    return response.text();
  };
  const { value, snapshots } = await recorded(program);
  expect(value).toBe("");
  for (const snapshot of snapshots) expect(await replay(program, { snapshot })).toBe(value);
});
