import { ChildFailed } from "./run.mjs";

/** Does one step of a script, saying what and how long it took. */
export async function step(name, action) {
  console.log(`> ${name}`);
  const start = performance.now();
  const result = await action();
  console.log(`> ${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return result;
}

/** Runs a script's main function; its failure, or its child's exit code or signal, becomes ours. */
export async function main(action) {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof ChildFailed)) {
      console.error(`error: ${error.message}`);
      process.exitCode = 1;
    } else if (error.signal) {
      process.kill(process.pid, error.signal);
    } else {
      console.error(`error: ${error.message}`);
      process.exitCode = error.code ?? 1;
    }
  }
}
