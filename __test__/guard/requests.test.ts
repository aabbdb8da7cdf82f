// A strict replay refuses requests that no wrapper records, whatever client sends them, and no other requests.
import { runWith } from "agent-rewind";
import { afterAll, beforeEach, expect, it, vi } from "vitest";

import { clients, mcpOverHttp } from "./clients.js";
import { otherProcess, strictReplay } from "./support.js";

const servers = await otherProcess();
const { all, close } = clients(servers);

const log = vi.spyOn(console, "error").mockImplementation(() => {});
beforeEach(() => log.mockClear());
afterAll(async () => {
  await close();
  servers[Symbol.dispose]();
});

it.each(Object.entries(all))("refuses %s, before and after it has connected", async (_name, send) => {
  for (const round of ["cold", "warm"]) {
    if (round === "warm") await send();
    await servers.received();
    // The agent catches the error, as a client that tries again does.
    const { refused, report } = await strictReplay(() => send().catch(() => {}));
    expect(refused).toBe(true);
    expect(await servers.received()).toEqual([]);
    expect(report.unrecorded).toEqual([
      {
        method: expect.stringMatching(/^(?:GET|POST)$/) as unknown,
        host: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as unknown,
        path: expect.stringMatching(/^\/[\w/]+$/) as unknown,
        // The stack of a promise that is awaited late begins in its client.
        callSite: expect.stringMatching(
          /(?:__test__\/guard\/[\w.]+ts|@anthropic-ai\/sdk\/[\w./-]+js):\d+:\d+\)?$/,
        ) as unknown,
        count: 1,
      },
    ]);
  }
  // Outside of the replay nothing has changed.
  await send();
  expect(await servers.received()).toHaveLength(1);
});

it("refuses an MCP client over HTTP", async () => {
  const { refused, report } = await strictReplay(() => mcpOverHttp(servers.http));
  expect(refused).toBe(true);
  expect(report.unrecorded).toMatchObject([{ method: "POST", path: "/mcp" }]);
  expect(await servers.received()).toEqual([]);
});

it("names the request, its place and the remedy, once", async () => {
  const { result } = await strictReplay(async () => {
    for (let attempt = 0; attempt < 3; attempt++) await all["the client of OpenAI"]?.().catch(() => {});
  });
  const host = new URL(servers.http).host;
  expect(result).toMatchObject({ name: "UnrecordedRequestError", method: "POST", host, path: "/chat/completions" });
  const { message } = result as Error;
  expect(message).toContain(`POST ${host}/chat/completions (sent by `);
  expect(message).toContain("`rewindFetch()`");
  expect(message).toContain(`allowHosts: ["${host}"]`);
  expect(log.mock.calls).toEqual([[`agent-rewind: UnrecordedRequestError: ${message}`]]);
});

it.each(Object.entries(all))("refuses only its own among 16 of %s that are open together", async (_name, send) => {
  // Pools serve a waiting request in the context of the one before.
  const outcomes = await Promise.all(
    Array.from({ length: 16 }, (_, index) =>
      index % 2 === 0
        ? runWith(() => send().then(() => "sent", String))
        : strictReplay(send).then(({ refused }) => (refused ? "refused" : "LEAKED")),
    ),
  );
  expect(outcomes).toEqual(Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? "sent" : "refused")));
  expect(await servers.received()).toHaveLength(8);
});
