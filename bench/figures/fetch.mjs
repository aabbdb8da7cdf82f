import assert from "node:assert/strict";
import { createServer } from "node:http";

import { runWith } from "agent-rewind";
import { rewindFetch } from "agent-rewind/fetch";

import { measure } from "../lib/measure.mjs";
import { added } from "../lib/row.mjs";

/** Milliseconds to the first byte. */
const LIMIT = 5;
const CHUNKS = 200;
const CHUNK = `data: ${JSON.stringify({ choices: [{ delta: { content: "some words of an answer" } }] })}\n\n`;

export default async function run({ quick }) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (let chunk = 0; chunk < CHUNKS; chunk++) response.write(CHUNK);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/v1/chat/completions`;
  const messages = Array.from({ length: 20 }, () => ({ role: "user", content: "x".repeat(2_000) }));
  const request = { method: "POST", body: JSON.stringify({ model: "m", stream: true, messages }) };
  const clients = { plain: fetch, recorded: rewindFetch() };
  /** Only the first byte is timed. The rest is read before the next sample. */
  const asking = (client, whole) => {
    let rest;
    return {
      before: () => rest?.(),
      async run() {
        const response = await client(url, request);
        const reader = response.body.getReader();
        const first = await reader.read();
        assert(first.value.length > 0);
        rest = () => readOut(reader);
        if (whole) await rest();
      },
    };
  };
  try {
    return await runWith(
      async () => {
        const works = {
          plainFirst: asking(clients.plain, false),
          recordedFirst: asking(clients.recorded, false),
          plainWhole: asking(clients.plain, true),
          recordedWhole: asking(clients.recorded, true),
        };
        const timings = await measure(works, { seconds: quick ? 1 : 4 });
        return [
          added("first byte", timings.recordedFirst, { name: "plain fetch", ...timings.plainFirst }, LIMIT),
          added("whole answer, 200 events", timings.recordedWhole, { name: "plain fetch", ...timings.plainWhole }),
        ];
      },
      { enableSnapshot: true },
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function readOut(reader) {
  while (!(await reader.read()).done);
}
