import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { AuditHead } from "../../../audit/line.js";
import { verifyLog, type AuditReport, type VerifiedLine } from "../../../audit/verify.js";
import { messageOf } from "../../../errors/base.js";
import { defined } from "../../../values/defined.js";
import { faultText, hashFaults, type HashFault } from "../../boundary-hashes.js";
import { EXIT, InputError, UsageError, type ExitCode } from "../../exit.js";
import { inputError, readInput } from "../../input.js";
import { visible, type Output, type Outputs } from "../../output.js";

export interface VerifyFlags {
  head?: string | undefined;
  keyFile?: string | undefined;
  keyEnv?: string | undefined;
  partial?: boolean | undefined;
}

interface ContentFault extends HashFault {
  file: string;
  line: number;
}

/** Checks audit logs: the chain of lines, and the hashes in the records against their content. */
export async function verifyContext(
  paths: readonly string[],
  flags: VerifyFlags,
  { out }: Outputs,
  json: boolean,
): Promise<ExitCode> {
  const key = await keyOf(flags);
  const head = flags.head === undefined ? undefined : headOf(flags.head);
  const options = defined({ key, head, partial: flags.partial });
  const reports: (AuditReport & { log: string; contentFaults: ContentFault[] })[] = [];
  for (const path of paths) {
    const contentFaults: ContentFault[] = [];
    const check = ({ line, file, number }: VerifiedLine): void => {
      if (line.type !== "record") return;
      contentFaults.push(...hashFaults(line.record).map((fault) => ({ ...fault, file, line: number })));
    };
    try {
      const report = await withFile(path, (file) => verifyLog(file, options, check));
      reports.push({ log: path, ...report, ok: report.ok && contentFaults.length === 0, contentFaults });
    } catch (cause) {
      throw new InputError(messageOf(cause), { cause });
    }
  }
  if (json) await out.json(reports);
  else for (const report of reports) await printReport(report, out);
  return reports.every(({ ok }) => ok) ? EXIT.ok : EXIT.found;
}

/** `verifyLog` reads files, so standard input is copied to a temporary file. */
async function withFile<T>(path: string, use: (file: string) => Promise<T>): Promise<T> {
  if (path !== "-") return use(path);
  const folder = await mkdtemp(join(tmpdir(), "agent-rewind-"));
  try {
    const file = join(folder, "stdin.jsonl");
    await writeFile(file, await readInput("-"), { mode: 0o600 });
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function printReport(
  report: AuditReport & { log: string; contentFaults: ContentFault[] },
  out: Output,
): Promise<void> {
  const { log, ok, problem, torn, records, files, head, keyed, contentFaults } = report;
  for (const fault of contentFaults)
    await out.line(`${out.style("red", "content")}  ${visible(fault.file)}:${fault.line}: ${faultText(fault)}`);
  if (!ok && problem !== undefined) await out.line(`${out.style("red", problem.kind)}  ${visible(problem.message)}`);
  const state = ok ? out.style("green", "ok") : out.style("red", "not ok");
  const parts = [`${records} records`, `${files.length} ${files.length === 1 ? "file" : "files"}`];
  if (head !== undefined) parts.push(`head ${head.seq}:${head.hash}`);
  if (keyed) parts.push("keyed");
  if (torn !== undefined) parts.push(`an incomplete line of ${torn.bytes} bytes at the end`);
  await out.line(`${state}  ${visible(log)}  ${parts.join(", ")}`);
}

/** Reads the key from a variable or file. On the command line, every user of the machine could read it. */
async function keyOf({ keyFile, keyEnv }: VerifyFlags): Promise<string | undefined> {
  if (keyFile !== undefined && keyEnv !== undefined)
    throw new UsageError("use either --key-file or --key-env, not both");
  if (keyEnv !== undefined) {
    const key = process.env[keyEnv];
    if (!key) throw new UsageError(`--key-env: the environment variable ${keyEnv} is not set`);
    return key;
  }
  if (keyFile === undefined) return undefined;
  try {
    return (await readFile(keyFile, "utf8")).trimEnd();
  } catch (cause) {
    throw inputError(keyFile, cause);
  }
}

function headOf(text: string): AuditHead {
  const [, seq, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined) throw new UsageError("--head must be <seq>:<64 hex digits>");
  return { seq: Number(seq), hash };
}
