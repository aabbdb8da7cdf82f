#!/usr/bin/env node
import { run } from "./run.js";

async function main(): Promise<void> {
  // No process.exit(): it would cut off output that is still being written to a pipe.
  process.exitCode = await run(process.argv.slice(2));
}

void main();
