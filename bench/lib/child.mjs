// Runs a module in a separate process, so that the memory left by one figure does not slow another.

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const SELF = fileURLToPath(import.meta.url);

/**
 * Calls the default export of a module in a new process with --expose-gc.
 *
 * @param {URL} module
 * @param {unknown} input its argument, plain data
 * @returns {Promise<any>} its result, plain data
 */
export function inChild(module, input) {
  return new Promise((resolve, reject) => {
    const child = fork(SELF, [], {
      execArgv: ["--expose-gc", ...process.execArgv],
      // Output of the child must not appear in the report.
      stdio: ["ignore", process.stderr, "inherit", "ipc"],
    });
    let answer;
    child.on("message", (message) => (answer = message));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (answer?.error !== undefined) reject(new Error(answer.error));
      else if (answer === undefined) reject(new Error(`the process of ${module} ended with ${signal ?? code}`));
      else resolve(answer.output);
    });
    child.send({ module: module.href, input });
  });
}

async function serve({ module, input }) {
  let answer;
  try {
    const { default: main } = await import(module);
    answer = { output: await main(input) };
  } catch (error) {
    answer = { error: error.stack };
  }
  process.send(answer, () => process.disconnect());
}

if (process.argv[1] === SELF && process.send !== undefined) process.once("message", serve);
