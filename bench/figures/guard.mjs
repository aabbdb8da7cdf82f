import { createServer, request as httpRequest } from "node:http";

import { runWith } from "agent-rewind";

import { measure } from "../lib/measure.mjs";
import { added } from "../lib/row.mjs";

/** Milliseconds that the guard may add to a request. */
const LIMIT = 0.1;
const BATCH = 50;

export default async function run({ quick }) {
  const server = createServer((request, response) => {
    request.resume();
    response.end("{}");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${server.address().port}`;
  const url = `http://${host}/`;
  const sends = {
    fetch: async () => void (await (await fetch(url)).text()),
    "node:http": () =>
      new Promise((resolve, reject) => {
        httpRequest(url, (response) => response.resume().on("end", resolve))
          .on("error", reject)
          .end();
      }),
  };
  const timed = () => {
    const works = Object.entries(sends).map(([name, send]) => {
      const batch = async () => {
        for (let sent = 0; sent < BATCH; sent++) await send();
      };
      return [name, { run: batch, units: BATCH }];
    });
    return measure(Object.fromEntries(works), { seconds: quick ? 1 : 4 });
  };
  try {
    // Before the first guarded run, nothing is patched.
    const plain = await timed();
    const guarded = await runWith(timed, { network: "refuse", allowHosts: [host] });
    return Object.keys(sends).map((name) =>
      added(name, guarded[name], { name: "without a guard", ...plain[name] }, LIMIT),
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
