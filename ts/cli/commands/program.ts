// Starts a program under agent-rewind/register.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { messageOf } from "../../errors/base.js";
import { builtFile } from "../../files/dist.js";
import { EXIT, InputError } from "../exit.js";
import type { Output } from "../output.js";

type Command = readonly [program: string, ...args: string[]];

/** Returns the exit code of the program. */
export async function recordProgram(
  command: Command,
  { output, ignored, keeps }: { output: string | undefined; ignored: readonly string[]; keeps: boolean },
  err: Output,
): Promise<number> {
  const file = resolve(output ?? `.agent-rewind/${new Date().toISOString().replace(/[:.]/g, "-")}.jsonl`);
  if (existsSync(file)) throw new InputError(`${file} exists already. Remove it, or choose another file by -o.`);
  const code = await execute(command, {
    AGENT_REWIND: "record",
    AGENT_REWIND_FILE: file,
    AGENT_REWIND_REDACT: keeps ? "off" : "on",
    AGENT_REWIND_IGNORE_HOSTS: ignored.join(","),
  });
  if (!existsSync(file))
    await err.line(
      `agent-rewind: nothing was recorded: no Node.js process of "${command[0]}" made a call in an API that is known`,
    );
  return code;
}

/** Returns the exit code of the program, or 1 if nothing replayed the recording. */
export async function replayProgram(
  file: string,
  command: Command,
  options: { output: string | undefined; resume: boolean; allowed: readonly string[]; ignored: readonly string[] },
  err: Output,
): Promise<number> {
  const { output, resume, allowed, ignored } = options;
  if (!existsSync(file)) throw new InputError(`${file}: no such file`);
  const claims = mkdtempSync(join(tmpdir(), "agent-rewind-"));
  try {
    const code = await execute(command, {
      AGENT_REWIND: resume ? "resume" : "replay",
      AGENT_REWIND_FILE: resolve(file),
      AGENT_REWIND_CLAIMS: claims,
      AGENT_REWIND_ALLOW_HOSTS: allowed.join(","),
      AGENT_REWIND_IGNORE_HOSTS: ignored.join(","),
      ...(output === undefined ? {} : { AGENT_REWIND_OUTPUT: resolve(output) }),
    });
    const noted = readdirSync(claims);
    if (code !== EXIT.ok) return code;
    // A thread or a process that the program has started may have missed an answer.
    if (noted.length > 0) return noted.includes("missed") ? EXIT.found : code;
    await err.line(`agent-rewind: nothing was replayed: no Node.js process of "${command[0]}" read ${file}`);
    return EXIT.found;
  } finally {
    rmSync(claims, { recursive: true, force: true });
  }
}

const REGISTER = builtFile("register/index.mjs");

function execute([program, ...args]: Command, settings: Readonly<Record<string, string>>): Promise<number> {
  const given = process.env["NODE_OPTIONS"];
  const options = `${given === undefined ? "" : `${given} `}--import=${REGISTER}`;
  const child = spawn(program, args, {
    stdio: "inherit",
    env: { ...process.env, ...settings, NODE_OPTIONS: options },
  });
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, forward);
  return new Promise<number>((done, fail) => {
    child.on("error", (cause) => fail(new InputError(`${program}: ${messageOf(cause)}`, { cause })));
    child.on("close", (code, signal) => done(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  }).finally(() => {
    for (const signal of signals) process.off(signal, forward);
  });
}
