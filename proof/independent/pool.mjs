// Examines programs in several processes. Each has its own programs, events and unhandled rejections.

import { fork } from "node:child_process";
import { EventEmitter, on } from "node:events";

import { Random } from "../lib/random.mjs";
import { subjectOf } from "./execute.mjs";
import { programOf } from "./generate.mjs";
import { Operations } from "./operations.mjs";

/**
 * @param {import("./generate.mjs").Program} program
 * @param {string} seed
 * @returns {Promise<{ outcomes: import("./operations.mjs").Outcome[], repeats: boolean }>}
 */
export async function examine(program, seed) {
  const operations = new Operations(subjectOf(program), new Random(seed, "operations", program.number));
  await operations.all();
  const { outcomes, repeats } = operations;
  return { outcomes, repeats };
}

/** Examines the programs that the parent process asks for. */
export function work(seed) {
  process.on("message", async (number) => {
    process.send({ number, ...(await examine(programOf(seed, number), seed)) });
  });
}

/**
 * Yields what was found in each program, in the order in which they end.
 *
 * @param {string} seed
 * @param {number[]} numbers
 * @param {number} jobs how many processes; with one, the programs are examined in this process, in their order
 */
export async function* examined(seed, numbers, jobs) {
  if (jobs === 1) {
    for (const number of numbers) yield { number, ...(await examine(programOf(seed, number), seed)) };
    return;
  }
  const waiting = numbers.toReversed();
  const results = new EventEmitter();
  const children = Array.from({ length: Math.min(jobs, numbers.length) }, () => {
    const child = fork(process.argv[1], ["--worker", "--seed", seed]);
    const next = () => (waiting.length > 0 ? child.send(waiting.pop()) : child.disconnect());
    child.on("message", (result) => {
      results.emit("found", result);
      next();
    });
    child.on("exit", (code, signal) => {
      if (code !== 0) results.emit("error", new Error(`a process that examines programs ended with ${code ?? signal}`));
    });
    return next;
  });
  const found = on(results, "found");
  for (const next of children) next();
  for (let left = numbers.length; left > 0; left--) yield (await found.next()).value[0];
}
