import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";

import { recordingText, writeRecording } from "../../recording/files.js";
import { findSecrets } from "../../recording/secrets.js";
import { checkSnapshot } from "../../snapshot/open.js";
import { ReadModel } from "../../snapshot/read-model.js";
import { defined } from "../../values/defined.js";
import { recordingPaths } from "../../vitest/names.js";
import { EXIT, InputError, UsageError, type ExitCode } from "../exit.js";
import { inputError, nameOf, readTrace } from "../input.js";
import { printWarnings, visible, type Outputs } from "../output.js";
import { requestsIn } from "../to-test/requests.js";
import { reference, testSource } from "../to-test/source.js";
import { testRecording } from "../to-test/test-recording.js";

/** The options of the command line. */
export type ToTestFlags = Partial<Record<"output" | "agent" | "call" | "model" | "name" | "trace", string>>;

/** Writes a vitest file and its recording, which replay the run of a trace. */
export async function toTest(
  path: string,
  flags: ToTestFlags,
  { out, err }: Outputs,
  json: boolean,
): Promise<ExitCode> {
  const { output: target, agent, call, model } = flags;
  if (target === undefined) throw new UsageError("to-test: -o <file> is missing. It names the test file to write");
  if ((agent === undefined) === (call === undefined)) {
    throw new UsageError(
      "to-test: pass either --agent or --call. It names the function that the test calls, such as ./agents.ts#writer",
    );
  }
  if (model !== undefined && agent === undefined) throw new UsageError("to-test: --model needs --agent");
  const called =
    agent === undefined
      ? ({ kind: "call", reference: reference("--call", call as string) } as const)
      : ({ kind: "agent", reference: reference("--agent", agent) } as const);
  const ownModel = model === undefined ? undefined : reference("--model", model);
  const { handle, snapshot } = checkSnapshot(await readTrace(path, defined({ traceId: flags.trace })));
  for (const { file } of [called.reference, ...(ownModel === undefined ? [] : [ownModel])])
    if (!existsSync(file)) throw new InputError(`${file}: file not found`);
  await printWarnings(snapshot, err);
  const read = new ReadModel(handle);
  const { root } = read;
  const {
    normalize = [],
    provenance: { traceId },
  } = snapshot;
  if (root.state.status === "running")
    throw new InputError(`${nameOf(path)}: the run has not ended, so a test of it cannot pass. Resume the run first`);
  if (agent !== undefined && root.agentId === "") {
    throw new InputError(
      `${nameOf(path)}: the run has no single root agent. Pass --call with a function that starts the whole run`,
    );
  }
  const request = path === "-" ? () => null : await requestsIn(path, normalize.length > 0);
  const testName = flags.name ?? `${root.agentId === "" ? "the run" : root.agentId} ${traceId.slice(0, 8)}`;
  const recording = await testRecording(handle, read, request);
  const text = recordingText(recording, testName, normalize);
  const source = testSource({ target, testName, snapshot, root, called, model: ownModel });
  const found = findSecrets(recording, new Map([...text.blobs, [target, Buffer.from(source)]]));
  refuseSecrets(
    nameOf(path),
    found.map(({ rule }) => rule),
  );
  const paths = recordingPaths(target, testName);
  try {
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, source, { flag: "wx" });
    writeRecording(paths, text);
  } catch (cause) {
    throw inputError(target, cause);
  }
  const files = { test: target, recording: relative(process.cwd(), paths.main) };
  if (json) await out.json({ ...files, name: testName });
  else for (const file of Object.values(files)) await out.line(visible(file));
  return EXIT.ok;
}

function refuseSecrets(input: string, found: readonly string[]): void {
  if (found.length === 0) return;
  throw new InputError(
    `${input}: the test was not written, because it would contain secrets (${[...new Set(found)].join(", ")}). ` +
      "Trace runs with `redact`, or remove the secrets from the trace.",
  );
}
