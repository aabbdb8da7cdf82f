import { stringifySnapshot, writeSnapshot } from "../../snapshot/files.js";
import type { RestoreOptions } from "../../types/snapshot.js";
import { EXIT, type ExitCode } from "../exit.js";
import { inputError, readTrace } from "../input.js";
import { printWarnings, type Outputs } from "../output.js";

/** Restores a snapshot from a trace. Writes it to a file or prints it. */
export async function restore(
  path: string,
  target: string | undefined,
  options: RestoreOptions,
  { out, err }: Outputs,
  json: boolean,
): Promise<ExitCode> {
  const snapshot = await readTrace(path, options);
  await printWarnings(snapshot, err);
  if (target === undefined || target === "-") {
    await out.raw(`${stringifySnapshot(snapshot)}\n`);
    return EXIT.ok;
  }
  try {
    await writeSnapshot(target, snapshot);
  } catch (cause) {
    throw inputError(target, cause);
  }
  const { processId, provenance, warnings = [] } = snapshot;
  if (json) await out.json({ file: target, processId, provenance, warnings });
  return EXIT.ok;
}
