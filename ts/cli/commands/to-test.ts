import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";

import { messageOf } from "../../errors/base.js";
import { recordingText, writeRecording, type RecordingText } from "../../recording/files.js";
import { checkSnapshot } from "../../snapshot/open.js";
import { ReadModel } from "../../snapshot/read-model.js";
import type { RestoreOptions } from "../../types/snapshot.js";
import { recordingPaths } from "../../vitest/names.js";
import { SecretFinder } from "../../vitest/secrets.js";
import { EXIT, InputError, UsageError, type ExitCode } from "../exit.js";
import { nameOf, readTrace } from "../input.js";
import { visible, type Output } from "../output.js";
import { requestsIn } from "../to-test/requests.js";
import { reference, testSource } from "../to-test/source.js";
import { testRecording } from "../to-test/test-recording.js";

export interface ToTestFlags {
  readonly output: string | undefined;
  readonly agent: string | undefined;
  readonly call: string | undefined;
  readonly model: string | undefined;
  readonly name: string | undefined;
  readonly trace: string | undefined;
}

/** Writes a vitest file that executes the run of a trace again, and its recording. */
export async function toTest(
  path: string,
  flags: ToTestFlags,
  { out, err }: { out: Output; err: Output },
  json: boolean,
): Promise<ExitCode> {
  const { output: target, agent, call, model } = flags;
  if (target === undefined) throw new UsageError("to-test: -o names the test file that is to be written");
  if ((agent === undefined) === (call === undefined)) {
    throw new UsageError("to-test: one of --agent and --call names what the test calls, such as ./agents.ts#writer");
  }
  if (model !== undefined && agent === undefined) throw new UsageError("to-test: --model goes with --agent");
  const called =
    agent === undefined
      ? ({ kind: "call", reference: reference("--call", call as string) } as const)
      : ({ kind: "agent", reference: reference("--agent", agent) } as const);
  const ownModel = model === undefined ? undefined : reference("--model", model);
  const options: RestoreOptions = flags.trace === undefined ? {} : { traceId: flags.trace };
  const { handle, snapshot } = checkSnapshot(await readTrace(path, options));
  for (const { file } of [called.reference, ...(ownModel === undefined ? [] : [ownModel])])
    if (!existsSync(file)) throw new InputError(`${file}: there is no such file`);
  for (const { code, message } of snapshot.warnings ?? [])
    await err.line(err.style("yellow", `${code}: ${visible(message)}`));
  const read = new ReadModel(handle);
  const { root } = read;
  const {
    normalize = [],
    provenance: { traceId },
  } = snapshot;
  if (root.state.status === "running")
    throw new InputError(`${nameOf(path)}: the run had not ended, so a test of it cannot pass. Resume the run first`);
  if (agent !== undefined && root.agentId === "") {
    throw new InputError(
      `${nameOf(path)}: the run was not started by a single agent. Use --call with a function that makes the whole run`,
    );
  }
  const request = path === "-" ? () => null : await requestsIn(path, normalize.length > 0);
  const testName = flags.name ?? `${root.agentId === "" ? "the run" : root.agentId} ${traceId.slice(0, 8)}`;
  const text = recordingText(await testRecording(handle, read, request), testName, normalize);
  const source = testSource({ target, testName, snapshot, root, called, model: ownModel });
  refuseSecrets(nameOf(path), text, source);
  const paths = recordingPaths(target, testName);
  try {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, source, { flag: "wx" });
    writeRecording(paths, text);
  } catch (cause) {
    throw new InputError(`${target}: ${messageOf(cause)}`, { cause });
  }
  const files = { test: target, recording: relative(process.cwd(), paths.main) };
  if (json) await out.json({ ...files, name: testName });
  else for (const file of Object.values(files)) await out.line(visible(file));
  return EXIT.ok;
}

function refuseSecrets(input: string, { main, timing, blobs }: RecordingText, source: string): void {
  const finder = new SecretFinder();
  const found = [
    ...[...finder.inLines(main), ...finder.inLines(timing)].map(({ rule }) => rule),
    ...[Buffer.from(source), ...blobs.values()].flatMap((content) => finder.inBytes(content)),
  ];
  if (found.length === 0) return;
  throw new InputError(
    `${input}: the test was not written: it would hold secrets (${[...new Set(found)].join(", ")}). ` +
      "Record the trace with `redact`, or remove the secrets from it.",
  );
}
