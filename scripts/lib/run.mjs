import { execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { root } from "./paths.mjs";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"];

/** A child process that failed. The caller exits in the same way. */
export class ChildFailed extends Error {
  constructor(what, code, signal) {
    super(`${what} ended with ${signal ?? `exit code ${code}`}`);
    this.name = "ChildFailed";
    this.code = code;
    this.signal = signal;
  }
}

/**
 * Runs a program to its end and rejects with ChildFailed unless it exits with 0.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, shell?: boolean, onOutput?: (text: string) => void }} [options]
 *   `onOutput` receives standard output, which is still printed.
 * @returns {Promise<void>}
 */
export function run(program, args, { cwd = root, env = process.env, shell = false, onOutput } = {}) {
  return new Promise((resolve, reject) => {
    const stdio = ["inherit", onOutput ? "pipe" : "inherit", "inherit"];
    const child = spawn(program, args, { cwd, env, shell, stdio });
    const forward = (signal) => child.kill(signal);
    const release = () => FORWARDED.forEach((signal) => process.off(signal, forward));
    FORWARDED.forEach((signal) => process.on(signal, forward));
    child.stdout?.setEncoding("utf8").on("data", (text) => {
      process.stdout.write(text);
      onOutput(text);
    });
    child.on("error", (error) => {
      release();
      reject(error.code === "ENOENT" ? new Error(`${program} was not found on PATH`) : error);
    });
    child.on("close", (code, signal) => {
      release();
      if (code === 0) resolve();
      else reject(new ChildFailed([program, ...args].join(" "), code, signal));
    });
  });
}

/** Runs a Node.js script with the Node.js of this process. */
export const runNode = (script, args = [], options = {}) => run(process.execPath, [script, ...args], options);

/** Runs npm. */
export function runNpm(args, options = {}) {
  const { program, prefix, shell } = npm();
  return run(program, [...prefix, ...args], { shell, ...options });
}

/** The standard output of npm. */
export async function askNpm(args) {
  const { program, prefix, shell } = npm();
  const { stdout } = await promisify(execFile)(program, [...prefix, ...args], { cwd: root, shell });
  return stdout;
}

/** The npm that started this script, or the one on PATH. */
function npm() {
  const own = process.env.npm_execpath;
  if (own?.endsWith(".js")) return { program: process.execPath, prefix: [own], shell: false };
  return { program: "npm", prefix: [], shell: process.platform === "win32" };
}
