// The requests that real clients have sent, and what a recording of them answers.
import { readFileSync } from "node:fs";

import { isReplayMissError, replay, runWith } from "agent-rewind";
import { dumpSnapshot, parseSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";

const ORIGIN = "http://api.example:8080";
const text = readFileSync(new URL("sent.json", import.meta.url), "utf8");

/**
 * @typedef {{ client: string, version: string, node: string, method: string, url: string, headers: [string, string][],
 *   body: Buffer }} Sent a request on the wire
 */

/** Each client in two versions, on two versions of Node.js. @type {readonly Sent[]} */
export const SENT = JSON.parse(text).map(({ path, body, ...request }) => ({
  ...request,
  url: `${ORIGIN}${path}`,
  body: Buffer.from(body, "base64"),
}));

/**
 * Records the requests in one run. Returns a function that sends one to a strict replay of the recording, and tells what
 * came of it: "answered" with its own recorded answer, "missed", or something else.
 *
 * @param {readonly Sent[]} requests
 */
export async function recordingOf(requests) {
  const recorded = parseSnapshot(
    await runWith(
      async () => {
        for (const [index, request] of requests.entries()) await fetchText(request, () => `answer ${index}`);
        return stringifySnapshot(dumpSnapshot());
      },
      { enableSnapshot: true },
    ),
  );
  /** @param {Sent} request @param {number} [index] the position of its answer */
  return async (request, index) => {
    let live = false;
    const answer = () => {
      live = true;
      return "live";
    };
    try {
      const value = await replay(() => fetchText(request, answer), { snapshot: recorded, enableSnapshot: true });
      return !live && (index === undefined || value === `answer ${index}`) ? "answered" : `answered by ${value}`;
    } catch (error) {
      return isReplayMissError(error) && !live ? "missed" : String(error.stack);
    }
  };
}

async function fetchText({ method, url, headers, body }, answer) {
  const fetch = rewindFetch(async () => new Response(answer()));
  return (await fetch(url, { method, headers, ...(body.length === 0 ? {} : { body }) })).text();
}
