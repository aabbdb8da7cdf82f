import assert from "node:assert/strict";
import { createHash, hash } from "node:crypto";

import { ContextManager } from "agent-rewind/context";

import { sortedJson } from "../baselines/python-json.mjs";
import { measure } from "../lib/measure.mjs";
import { faster, ratio, time } from "../lib/row.mjs";
import { fillings, request } from "../workloads/request.mjs";

const sha256 = (text) => hash("sha256", text);

/** Captures the messages and tools of a request, with the hashes and the ledger that callbacks read. */
export default async function run({ quick }) {
  const manager = new ContextManager({ historyLimit: 1 });
  const rows = [];
  for (const filling of Object.keys(fillings)) {
    for (const [size, bytes] of [
      ["1 KB", 1024],
      ["1 MB", 1024 * 1024],
    ]) {
      const { messages, tools = [] } = request(filling, bytes);
      const capture = () => manager.captureLlmBoundary(messages, tools);
      const hashed = () => capture().messageHash;
      const plain = () => createHash("sha256").update(sortedJson(messages)).digest("hex").slice(0, 16);
      assert.equal(hashed(), plain());
      // Python escapes CJK text to twice its size in UTF-8. Any implementation has to hash that much.
      const text = sortedJson(messages);
      const works = {
        floor: () => sha256(JSON.stringify({ messages, tools })),
        hashFloor: () => [JSON.stringify({ messages, tools }), sha256(text)],
        capture,
        hashed,
        plain,
      };
      const seconds = quick ? 0.3 : 1.5;
      const { floor, hashFloor, ...timings } = await measure(works, { seconds });
      const name = `${size}, ${filling}`;
      const floorOf = { name: "stringify + SHA-256", ...floor };
      const hashFloorOf = { name: "stringify + SHA-256 of the same text", ...hashFloor };
      // The limit is promised for chats. The other fillings are only shown.
      const isChat = filling === "ASCII chat" || filling === "CJK and emoji";
      const limit = (value) => (isChat ? value : undefined);
      if (bytes === 1024) {
        rows.push(time(`${name}, captured`, timings.capture, 0.015));
        rows.push(time(`${name}, hashed and counted`, timings.hashed, limit(0.015)));
      } else {
        rows.push(ratio(`${name}, captured`, timings.capture, floorOf, 2));
        rows.push(ratio(`${name}, hashed and counted`, timings.hashed, hashFloorOf, limit(2)));
      }
      rows.push(faster(name, timings.hashed, { name: "the same hash in plain JavaScript", ...timings.plain }));
    }
  }
  return rows;
}
