import { ChildFailed } from "./run.mjs";

/** Runs one step of a script and prints its name and duration. */
export async function step(name, action) {
  console.log(`> ${name}`);
  const start = performance.now();
  const result = await action();
  console.log(`> ${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return result;
}

/**
 * Runs the main function of a script. Its failure, or the exit code or signal of its child, becomes that of this
 * process.
 */
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
