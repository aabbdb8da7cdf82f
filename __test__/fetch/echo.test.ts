// An answer that repeats a part of its request, such as an id that is new in every run.
import { journalCall, replay, resume, runWith, type AgentSnapshot, type NormalizeRule } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { describe, expect, it } from "vitest";

import { json, modelServer, type Scripted } from "../support/model-server.js";

async function record<R>(
  program: () => Promise<R>,
  normalize: NormalizeRule[],
): Promise<{ value: R; snapshot: AgentSnapshot }> {
  const { value, dump } = await runWith(
    async () => ({ value: await program(), dump: stringifySnapshot(dumpSnapshot()) }),
    { normalize },
  );
  return { value, snapshot: parseSnapshot(dump) };
}

describe("rewindFetch with an echo", () => {
  const fetch = rewindFetch(undefined, { echo: { from: "/id", to: "/id" } });
  const normalize: NormalizeRule[] = [{ id: "request-id", pointer: "/input/body/id" }];
  const call = async (url: string, id: string | number): Promise<Record<string, unknown>> => {
    const body = JSON.stringify({ id, method: "hello" });
    const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    return (await response.json()) as Record<string, unknown>;
  };
  const idOf = (body: string): unknown => (JSON.parse(body) as { id: unknown }).id;

  it.each<[string, (id: unknown) => Scripted]>([
    ["JSON", (id) => json({ id, result: "one" })],
    ["JSON with white space", (id) => ({ ...json({}), body: `{ "id": ${JSON.stringify(id)}, "result": "one" }\n` })],
    ["JSON of another order", (id) => json({ result: "one", id })],
  ])("gives a replayed answer the id of the new request: %s", async (_form, answer) => {
    await using server = await modelServer(({ body }) => answer(idOf(body)));
    for (const [first, second] of [
      ["a", "b"],
      [1, 2],
    ] as const) {
      const { value, snapshot } = await record(() => call(server.url, first), normalize);
      expect(value).toEqual({ id: first, result: "one" });
      const made = server.requests.length;
      for (const run of [replay, resume]) {
        const again = await run(() => call(server.url, second), { snapshot, normalize });
        expect(again).toEqual({ id: second, result: "one" });
      }
      expect(server.requests).toHaveLength(made);
    }
  });

  it("changes nothing that did not repeat the request when it was recorded", async () => {
    for (const answer of [{ id: "another" }, { error: "no id" }, [1], "a", { nested: { id: "a" } }]) {
      await using server = await modelServer(() => json(answer));
      const { value, snapshot } = await record(() => call(server.url, "a"), normalize);
      expect(value).toEqual(answer);
      expect(await replay(() => call(server.url, "b"), { snapshot, normalize })).toEqual(answer);
    }
  });

  it("changes nothing without the option", async () => {
    await using server = await modelServer(({ body }) => json({ id: idOf(body) }));
    const plain = rewindFetch();
    const program = (id: string) => async () =>
      (await plain(server.url, { method: "POST", body: JSON.stringify({ id }) })).json();
    const { snapshot } = await record(program("a"), normalize);
    expect(await replay(program("b"), { snapshot, normalize })).toEqual({ id: "a" });
  });

  it("is a miss without a rule that leaves the id out of the hash", async () => {
    await using server = await modelServer(({ body }) => json({ id: idOf(body) }));
    const { snapshot } = await record(() => call(server.url, "a"), []);
    await expect(replay(() => call(server.url, "b"), { snapshot })).rejects.toMatchObject({ name: "ReplayMissError" });
  });

  it("refuses what is no pointer", () => {
    for (const echo of [{}, { from: "id", to: "/id" }, { from: "/id", to: 1 }, null]) {
      expect(() => rewindFetch(undefined, { echo: echo as never })).toThrow(
        /options\.echo\.(?:from|to) must be a JSON pointer/,
      );
    }
  });
});

it("journalCall gives a replayed answer what the new request says, at several places", async () => {
  const normalize: NormalizeRule[] = [{ id: "ids", pointer: ["/input/id", "/input/trace/span"] }];
  const ask = (id: string, span: number) =>
    journalCall(
      {
        kind: "rpc",
        name: "hello",
        request: { id, trace: { span } },
        echo: [
          { from: "/id", to: "/head/0/id" },
          { from: "/trace/span", to: "/span" },
        ],
      },
      () => ({ head: [{ id }], span: span + 1, text: id, at: new Date(0) }),
    );
  const { snapshot } = await record(() => ask("a", 1), normalize);
  // The span was not repeated.
  expect(await replay(() => ask("b", 7), { snapshot, normalize })).toEqual({
    head: [{ id: "b" }],
    span: 2,
    text: "a",
    at: new Date(0),
  });
});
