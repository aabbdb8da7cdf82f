// Journal entries of about 2 KB: half are answers of a model, half are results of a search tool.

import { journalCall, runWith } from "agent-rewind";

import { prose } from "./text.mjs";

const OUTPUTS = Array.from({ length: 64 }, (_, index) => (index % 2 === 0 ? answer(index) : findings(index)));

/** The request of entry `index`. */
export function call(index) {
  const kind = index % 2 === 0 ? "prompt" : "tool";
  const request =
    kind === "prompt"
      ? { model: { id: "gpt-5" }, messages: [{ role: "user", content: `question ${index}` }] }
      : { query: `question ${index}`, limit: 8 };
  return { kind, name: kind === "prompt" ? "gpt-5" : "search", request };
}

/** The answer of entry `index`. */
export const output = (index) => OUTPUTS[index % OUTPUTS.length];

function answer(seed) {
  return {
    role: "assistant",
    content: prose(1800, seed),
    tool_calls: [{ id: `call_${seed}`, name: "search", arguments: JSON.stringify({ query: prose(60, seed) }) }],
  };
}

function findings(seed) {
  const passages = Array.from({ length: 8 }, (_, rank) => ({
    title: `Report ${seed}-${rank}`,
    url: `https://documents.example/reports/${seed}/${rank}`,
    score: 1 / (rank + 1.5),
    rank,
    text: prose(120, seed + rank),
  }));
  return { query: prose(40, seed), total: 8, passages };
}

/** Journals the entries `from` … `to - 1` in the current run. */
export async function journal(from, to) {
  for (let index = from; index < to; index++) await journalCall(call(index), () => output(index));
}

/**
 * Calls `fn` in a run whose journal contains `count` entries, and returns its result.
 *
 * @template T
 * @param {number} count
 * @param {() => T | Promise<T>} fn
 * @returns {Promise<T>}
 */
export async function withJournal(count, fn) {
  let result;
  await runWith(
    async () => {
      await journal(0, count);
      // Not returned by the run, because recording the result would parse a snapshot in it.
      result = await fn();
    },
    { enableSnapshot: true },
  );
  return result;
}
