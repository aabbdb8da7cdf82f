import { requireContext, type RunContext } from "../scope/run-context.js";
import { checkOptionNames } from "../../errors/option-names.js";
import { SnapshotDisabledError } from "../../errors/index.js";
import type { AgentSnapshot } from "../../types/snapshot.js";
import { snapshotObject } from "../../snapshot/handle.js";
import { metadataText } from "../../snapshot/metadata.js";

const OPTION_NAMES = { metadata: true, context: true } as const;

/**
 * Takes a snapshot of the current run: all its frames and their journal entries so far. The cost does not depend on the
 * length of the run. The snapshot does not change when the run continues.
 *
 * @param options.metadata your own tags, a JSON object.
 * @param options.context a context of the run. Default: the current context.
 * @throws ContextNotFoundError outside of runs and agents.
 * @throws SnapshotDisabledError if the run is not journaled.
 * @throws TypeError if the metadata is not JSON.
 *
 * @example
 * ```ts
 * import { runWith } from "agent-rewind";
 * import { dumpSnapshot, writeSnapshot } from "agent-rewind/debugger";
 *
 * export const recorded = (agent: () => Promise<string>): Promise<string> =>
 *   runWith(async () => {
 *     try {
 *       return await agent();
 *     } catch (error) {
 *       await writeSnapshot("failed.json", dumpSnapshot());
 *       throw error;
 *     }
 *   });
 * ```
 */
export function dumpSnapshot(
  options: { metadata?: Record<string, unknown>; context?: RunContext } = {},
): AgentSnapshot {
  checkOptionNames("dumpSnapshot: options", options, OPTION_NAMES);
  const context = options.context ?? requireContext("dumpSnapshot");
  if (!context.enableSnapshot) throw new SnapshotDisabledError({ source: "dump" });
  const { traceId, spanId } = context.trace;
  const { frame, run } = context.scope;
  const rules = run.normalizer === undefined ? undefined : JSON.stringify(run.normalizer.recorded);
  const redact = run.redaction === undefined ? undefined : JSON.stringify(run.redaction.recorded);
  const metadata = metadataText(options.metadata);
  for (const stream of run.outermost.openStreams) stream.progress();
  const kept = metadata === undefined ? undefined : (run.redaction?.json(metadata) ?? metadata);
  // A run inside a recorded test is dumped alone, as if it had been started outside of the test.
  return snapshotObject(frame.dump(Date.now(), traceId, spanId, kept, rules, redact, run.frameCallId));
}
