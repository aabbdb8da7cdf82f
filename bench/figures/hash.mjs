import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { createRequire } from "node:module";

import { contentHash } from "agent-rewind/debugger";

import { sortedStringify } from "../baselines/sorted-stringify.mjs";
import { measure } from "../lib/measure.mjs";
import { faster, ratio } from "../lib/row.mjs";
import { fillings, request } from "../workloads/request.mjs";

const { Conversation, RequestTail } = createRequire(import.meta.url)("../../native/binding.cjs");

const SIZES = { "1 KB": 1024, "32 KB": 32 * 1024, "1 MB": 1024 * 1024 };

const sha256 = (text) => hash("sha256", text);

/** Hashed as the runtime hashes the first turn of a prompt. */
function promptHash({ messages, ...tail }) {
  const conversation = new Conversation(false);
  conversation.append(JSON.stringify(messages));
  return conversation.hash(new RequestTail(JSON.stringify(tail)));
}

export default async function run({ quick }) {
  const others = quick ? {} : await otherLibraries();
  const rows = [];
  for (const filling of Object.keys(fillings)) {
    for (const [size, bytes] of Object.entries(SIZES)) {
      if (quick && size === "32 KB") continue;
      const document = request(filling, bytes);
      const works = {
        floor: () => sha256(JSON.stringify(document)),
        ours: () => contentHash(JSON.stringify(document)),
        prompt: () => promptHash(document),
      };
      const large = bytes === SIZES["1 MB"];
      if (large) {
        works.sorted = () => sha256(sortedStringify(document));
        for (const [name, library] of Object.entries(others)) works[name] = () => library(document);
      }
      for (const name of ["ours", "prompt", "sorted", "canonicalize"]) {
        if (name in works) assert.equal(works[name](), sha256(sortedStringify(document)), name);
      }
      const seconds = quick ? 0.3 : large ? 1.5 : 0.7;
      const { floor, ours, prompt, sorted, ...timings } = await measure(works, { seconds });
      const name = `${size}, ${filling}`;
      const floorOf = { name: "stringify + SHA-256", ...floor };
      rows.push(ratio(name, ours, floorOf, 1.25), ratio(`${name}, as a prompt's first turn`, prompt, floorOf));
      if (sorted !== undefined)
        rows.push(faster(name, ours, { name: "sorted stringify in JS + SHA-256", ...sorted }, 2));
      for (const [library, timing] of Object.entries(timings))
        rows.push(faster(name, ours, { name: library, ...timing }));
    }
  }
  return rows;
}

/** The libraries that people use today. */
async function otherLibraries() {
  const [{ default: canonicalize }, { default: stableStringify }, { default: objectHash }] = await Promise.all([
    import("canonicalize"),
    import("safe-stable-stringify"),
    import("object-hash"),
  ]);
  return {
    canonicalize: (document) => sha256(canonicalize(document)),
    "safe-stable-stringify": (document) => sha256(stableStringify(document)),
    "object-hash": (document) => objectHash(document, { algorithm: "sha256" }),
  };
}
