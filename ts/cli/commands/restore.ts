import { messageOf } from "../../errors/base.js";
import { stringifySnapshot, writeSnapshot } from "../../snapshot/files.js";
import type { RestoreOptions } from "../../types/snapshot.js";
import { EXIT, InputError, type ExitCode } from "../exit.js";
import { readTrace } from "../input.js";
import { visible, type Output } from "../output.js";

/** Restores a snapshot from a trace. Writes it to a file or prints it. */
export async function restore(
  path: string,
  target: string | undefined,
  options: RestoreOptions,
  outputs: { out: Output; err: Output },
  json: boolean,
): Promise<ExitCode> {
  const { out, err } = outputs;
  const snapshot = await readTrace(path, options);
  for (const { code, message } of snapshot.warnings ?? [])
    await err.line(err.style("yellow", `${code}: ${visible(message)}`));
  if (target === undefined || target === "-") {
    await out.raw(`${stringifySnapshot(snapshot)}\n`);
    return EXIT.ok;
  }
  try {
    await writeSnapshot(target, snapshot);
  } catch (cause) {
    throw new InputError(`${target}: ${messageOf(cause)}`, { cause });
  }
  const { processId, provenance, warnings = [] } = snapshot;
  if (json) await out.json({ file: target, processId, provenance, warnings });
  return EXIT.ok;
}
