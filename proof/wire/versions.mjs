import { SENT, recordingOf } from "./requests.mjs";

const OTHER_KEY = "another-key-0987654321";
const CREDENTIALS = /^(?:authorization|x-api-key|api-key|x-goog-api-key|x-amz-security-token)$/i;
const MACHINES = { Linux: "MacOS", linux: "darwin", x64: "arm64" };

/** The changes that may happen between a recording and its replay. @type {Record<string, (request: any, newer: any) => any>} */
const CHANGES = {
  "the next version": (_request, newer) => newer,
  "another key": (request) => ({
    ...request,
    headers: request.headers.map(([name, value]) => [name, CREDENTIALS.test(name) ? `Bearer ${OTHER_KEY}` : value]),
  }),
  "no key": (request) => ({ ...request, headers: request.headers.filter(([name]) => !CREDENTIALS.test(name)) }),
  "another machine": (request) => ({
    ...request,
    headers: request.headers.map(([name, value]) => [name, /agent|stainless/i.test(name) ? elsewhere(value) : value]),
  }),
  "a traced request through a proxy": (request) => ({
    ...request,
    headers: [
      ...request.headers.map(([name, value]) => [name.toUpperCase(), value]).toReversed(),
      ["traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
      ["via", "1.1 proxy"],
      ["x-forwarded-for", "10.0.0.1"],
    ],
  }),
};

/**
 * Records each client on the older Node.js, and replays it with everything that may differ.
 *
 * @returns {Promise<{ rows: Record<string, Record<string, string>>, failures: string[] }>} by client
 */
export async function versions() {
  const rows = {};
  const failures = [];
  for (const client of new Set(SENT.map((request) => request.client))) {
    const all = SENT.filter((request) => request.client === client);
    const [recorded, ...others] = all;
    const isNewer = (request) => request.version !== recorded.version && request.node !== recorded.node;
    const newer = others.find(isNewer);
    const send = await recordingOf([recorded]);
    const row = { versions: `${recorded.version} → ${newer.version}` };
    for (const [change, make] of Object.entries(CHANGES)) {
      row[change] = await send(make(recorded, newer), 0);
      if (row[change] !== "answered") failures.push(`${client}, ${change}: ${row[change]}`);
    }
    // Everything at once, and each version on each Node.js.
    for (const other of all) {
      const changed = CHANGES["another machine"](CHANGES["another key"](other));
      const outcome = await send(changed, 0);
      if (outcome !== "answered") failures.push(`${client} ${other.version} on ${other.node}: ${outcome}`);
    }
    rows[client] = row;
  }
  return { rows, failures };
}

function elsewhere(value) {
  return Object.entries(MACHINES).reduce((text, [here, there]) => text.replaceAll(here, there), value);
}
