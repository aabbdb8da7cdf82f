// Programs of requests whose bodies come in pieces: ended, open, failed, never read.
import { rewindFetch } from "agent-rewind/fetch";

import { failure, plain, type Program, type World } from "../program.js";

const ORIGIN = "http://model.test";

/** Answers by the path; no request leaves the process. */
function fetchOf(world: World): typeof globalThis.fetch {
  return rewindFetch(async (input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    world.made.push(pathname);
    if (pathname === "/down") throw new TypeError("fetch failed", { cause: new Error("connection refused") });
    if (pathname === "/busy")
      return Response.json({ error: { message: "busy" } }, { status: 503, headers: { "retry-after": "1" } });
    if (pathname === "/bytes")
      return new Response(new Uint8Array([0, 255, 1, 254]), {
        headers: { "content-type": "application/octet-stream" },
      });
    const headers = {
      "content-type": "text/event-stream",
      date: "Thu, 01 Jan 1970 00:00:00 GMT",
      "x-request-id": "req_1",
    };
    return new Response(bodyOf(pathname), { headers });
  });
}

/** Each piece is pulled; those of "/endless" never end, and "/breaks" breaks off. */
function bodyOf(path: string): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next += 1;
        if (path === "/breaks" && next === 3) controller.error(new TypeError("terminated"));
        else if (next <= 3) controller.enqueue(Buffer.from(`data: ${path} ${next} å語\u{1F30D}\n\n`));
        else if (path === "/endless") await new Promise(() => {});
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}

const post = (world: World, path: string): Promise<Response> =>
  fetchOf(world)(`${ORIGIN}${path}`, {
    method: "POST",
    headers: { authorization: "Bearer none" },
    body: JSON.stringify({ path }),
  });

const streamsEnded: Program = {
  name: "streams-ended",
  async run(world) {
    const first = await post(world, "/first");
    const seen: unknown[] = [first.status, await first.text()];
    world.middle();
    const busy = await post(world, "/busy");
    seen.push(busy.status, await busy.json());
    seen.push(await post(world, "/down").catch(failure));
    const broken = await post(world, "/breaks");
    seen.push(await broken.text().catch(({ name }: Error) => name));
    seen.push(new Uint8Array(await (await post(world, "/bytes")).arrayBuffer()));
    seen.push((await post(world, "/unread")).status);
    const cancelled = (await post(world, "/cancelled")).body?.getReader();
    seen.push((await cancelled?.read())?.value?.length);
    await cancelled?.cancel();
    return seen;
  },
};

/** Two bodies are open in the middle; one of them stays open to the end. */
const streamsOpen: Program = {
  name: "streams-open",
  async run(world) {
    const endless = (await post(world, "/endless")).body?.getReader();
    const first = (await endless?.read())?.value?.length;
    const other = (await post(world, "/other")).body?.getReader();
    const pieces = [(await other?.read())?.value?.length];
    world.middle();
    for (let piece = await other?.read(); piece?.done === false; piece = await other?.read())
      pieces.push(piece.value.length);
    return { first, pieces };
  },
};

export const streamPrograms: readonly Program[] = [streamsEnded, streamsOpen].map((program) => ({
  ...program,
  run: async (world) => plain(await program.run(world)),
}));
