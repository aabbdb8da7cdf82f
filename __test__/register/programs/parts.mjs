// A request in the program, in a thread, and in a child process.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isMainThread, Worker } from "node:worker_threads";

const ask = async (path) => (await fetch(`${process.env.BASE}/${path}`)).text();

if (!isMainThread) {
  console.log(await ask("thread"));
} else if (process.argv[2] === "child") {
  console.log(await ask("child"));
} else {
  console.log(await ask("program"));
  await new Promise((resolve) => new Worker(new URL(import.meta.url)).on("exit", resolve));
  const child = await promisify(execFile)(process.execPath, [process.argv[1], "child"]);
  console.log(child.stdout.trim());
}
