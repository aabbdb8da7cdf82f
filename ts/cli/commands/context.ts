import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { AuditHead } from "../../audit/line.js";
import { verifyLog, type AuditReport, type VerifiedLine } from "../../audit/verify.js";
import { messageOf } from "../../errors/base.js";
import { differingItems, readBoundaries, sameContent, type Boundary } from "../boundaries.js";
import { hashFaults, type HashFault } from "../boundary-hashes.js";
import { EXIT, InputError, UsageError, type ExitCode } from "../exit.js";
import { readInput } from "../input.js";
import { differences, type Difference } from "../json-diff.js";
import { visible, type Output } from "../output.js";
import { printDifferences } from "./diff.js";

export interface Outputs {
  out: Output;
  err: Output;
}

async function boundariesOf(path: string, { err }: Outputs): Promise<Boundary[]> {
  const { boundaries, warnings } = await readBoundaries(path);
  for (const warning of warnings) await err.line(err.style("yellow", visible(warning)));
  return boundaries;
}

/** Prints the requests in logs, one boundary per line. */
export async function showContext(paths: readonly string[], outputs: Outputs, json: boolean): Promise<ExitCode> {
  const { out } = outputs;
  const all: Boundary[] = [];
  for (const path of paths) all.push(...(await boundariesOf(path, outputs)));
  if (json) {
    await out.json(all);
    return EXIT.ok;
  }
  for (const boundary of all) {
    if (!out.open) break;
    const {
      timestamp,
      session,
      agent,
      messageCount,
      toolCount,
      messageHash,
      toolsHash,
      hashFaults: faults = [],
    } = boundary;
    await out.line(
      [
        out.style("dim", visible(timestamp)),
        out.style("cyan", visible(agent === "" ? "-" : agent)),
        visible(session ?? "-"),
        `${messageCount ?? "?"} messages ${visible(messageHash ?? "-")}`,
        `${toolCount ?? "?"} tools ${visible(toolsHash ?? "-")}`,
        ...faults.map((fault) => out.style("red", faultText(fault))),
      ].join("  "),
    );
  }
  return EXIT.ok;
}

function faultText({ field, expected, actual }: HashFault): string {
  return `${field} is ${visible(expected)}, but the content has ${actual}`;
}

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
  const options = {
    ...(key === undefined ? {} : { key }),
    ...(head === undefined ? {} : { head }),
    ...(flags.partial === undefined ? {} : { partial: flags.partial }),
  };
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
    throw new UsageError("--key-file and --key-env exclude each other");
  if (keyEnv !== undefined) {
    const key = process.env[keyEnv];
    if (!key) throw new UsageError(`--key-env: the environment variable ${keyEnv} is not set`);
    return key;
  }
  if (keyFile === undefined) return undefined;
  try {
    return (await readFile(keyFile, "utf8")).trimEnd();
  } catch (cause) {
    throw new InputError(`${keyFile}: ${messageOf(cause)}`, { cause });
  }
}

function headOf(text: string): AuditHead {
  const [, seq, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined) throw new UsageError("--head must be <seq>:<64 hex digits>");
  return { seq: Number(seq), hash };
}

interface ContextChange {
  agent: string;
  /** Number of the boundary among those of the agent, from 0. */
  index: number;
  change: "added" | "removed" | "messages" | "tools";
  before?: { file: string; line: number; hash?: string };
  after?: { file: string; line: number; hash?: string };
  /** Indices of the messages or tools that differ, if known. */
  items?: number[];
  differences?: Difference[];
}

/** Prints the differences between the contexts in two logs, agent by agent. Times and sessions are ignored. */
export async function diffContext(paths: readonly string[], outputs: Outputs, json: boolean): Promise<ExitCode> {
  const [first, ...others] = paths as [string, ...string[]];
  const before = byAgent(await boundariesOf(first, outputs));
  const results: { before: string; after: string; equal: boolean; changes: ContextChange[] }[] = [];
  for (const path of others) {
    const changes = contextChanges(before, byAgent(await boundariesOf(path, outputs)));
    results.push({ before: first, after: path, equal: changes.length === 0, changes });
  }
  const { out } = outputs;
  if (json) await out.json(results);
  else for (const { changes } of results) for (const change of changes) await printChange(change, out);
  return results.every(({ equal }) => equal) ? EXIT.ok : EXIT.found;
}

function byAgent(boundaries: readonly Boundary[]): Map<string, Boundary[]> {
  const agents = new Map<string, Boundary[]>();
  for (const boundary of boundaries) {
    const list = agents.get(boundary.agent);
    if (list === undefined) agents.set(boundary.agent, [boundary]);
    else list.push(boundary);
  }
  return agents;
}

function contextChanges(
  before: ReadonlyMap<string, Boundary[]>,
  after: ReadonlyMap<string, Boundary[]>,
): ContextChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((agent) => {
    const [left, right] = [before.get(agent) ?? [], after.get(agent) ?? []];
    return Array.from({ length: Math.max(left.length, right.length) }, (_, index) =>
      changesAt(agent, index, left[index], right[index]),
    ).flat();
  });
}

function changesAt(
  agent: string,
  index: number,
  before: Boundary | undefined,
  after: Boundary | undefined,
): ContextChange[] {
  if (before === undefined)
    return after === undefined ? [] : [{ agent, index, change: "added", after: placeOf(after) }];
  if (after === undefined) return [{ agent, index, change: "removed", before: placeOf(before) }];
  return (["messages", "tools"] as const).flatMap((change): ContextChange[] => {
    if (sameContent(before, after, change)) return [];
    const known = before[change] !== undefined && after[change] !== undefined;
    const hash = change === "messages" ? "messageHash" : "toolsHash";
    return [
      {
        agent,
        index,
        change,
        before: placeOf(before, before[hash]),
        after: placeOf(after, after[hash]),
        items: differingItems(before, after, change),
        ...(known ? { differences: differences(before[change], after[change], 10) } : {}),
      },
    ];
  });
}

function placeOf({ file, line }: Boundary, hash?: string): { file: string; line: number; hash?: string } {
  return { file, line, ...(hash === undefined ? {} : { hash }) };
}

async function printChange(change: ContextChange, out: Output): Promise<void> {
  const { agent, index, before, after, items = [], differences: list } = change;
  const name = `${agent === "" ? "-" : visible(agent)} ${index}`;
  const place = ({ file, line }: { file: string; line: number }): string => `${visible(file)}:${line}`;
  if (before === undefined)
    return out.line(out.style("green", `+ ${name}  ${after === undefined ? "" : place(after)}`));
  if (after === undefined) return out.line(out.style("red", `- ${name}  ${place(before)}`));
  const which = items.length === 0 ? "" : `  (${items.slice(0, 10).join(", ")}${items.length > 10 ? ", …" : ""})`;
  await out.line(
    `${out.style("yellow", "~")} ${name}  ${change.change}${which}  ` +
      `${place(before)} ${visible(before.hash ?? "-")} → ${place(after)} ${visible(after.hash ?? "-")}`,
  );
  if (list !== undefined) await printDifferences(list, out);
}
