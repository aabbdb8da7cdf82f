#!/usr/bin/env node
import { run } from "./run.js";

async function main(): Promise<void> {
  // Ends by itself: what is still on its way into a pipe must not be cut off.
  process.exitCode = await run(process.argv.slice(2));
}

void main();
