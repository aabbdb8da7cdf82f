import { requireContext, type RunContext } from "../scope/run-context.js";
import { checkOptionNames } from "../../errors/option-names.js";
import { SnapshotDisabledError } from "../../errors/index.js";
import type { AgentSnapshot } from "../../types/snapshot.js";
import type { Scope } from "../scope/scope.js";
import { snapshotObject } from "../../snapshot/handle.js";
import { metadataText } from "../../snapshot/metadata.js";

const OPTION_NAMES = { metadata: true, context: true, error: true } as const;

/**
 * Takes a snapshot of the current run: all its frames and their journal entries so far. The cost does not depend on the
 * length of the run. The snapshot does not change when the run continues.
 *
 * @param options.metadata your own tags, a JSON object.
 * @param options.context a context of the run. Default: the current context.
 * @param options.error the error that the run is about to fail with, in a `catch` block. A run that resumes the snapshot
 * executes the calls that failed with it again, whatever other branches of the program did after them.
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
 *       await writeSnapshot("failed.json", dumpSnapshot({ error }));
 *       throw error;
 *     }
 *   });
 * ```
 */
export function dumpSnapshot(
  options: { metadata?: Record<string, unknown>; context?: RunContext; error?: unknown } = {},
): AgentSnapshot {
  checkOptionNames("dumpSnapshot: options", options, OPTION_NAMES);
  const context = options.context ?? requireContext("dumpSnapshot");
  if (!context.enableSnapshot) throw new SnapshotDisabledError({ source: "dump" });
  const { run } = context.scope;
  const metadata = metadataText(options.metadata);
  for (const stream of run.outermost.openStreams) stream.progress();
  if ("error" in options) nameFailure(context.scope, options.error);
  const kept = metadata === undefined ? undefined : (run.redaction?.json(metadata) ?? metadata);
  // A run inside a recorded test is dumped alone, as if it had been started outside of the test.
  return dump(context, { metadata: kept, run: run.frameCallId, keepsUnused: true });
}

/** Dumps a recording session. `keepsUnused`: with the recorded entries that it has not requested. */
export function dumpSession(context: RunContext, keepsUnused: boolean): AgentSnapshot {
  return dump(context, { metadata: undefined, run: undefined, keepsUnused });
}

function dump(
  { scope, trace: { traceId, spanId } }: RunContext,
  { metadata, run, keepsUnused }: { metadata: string | undefined; run: string | undefined; keepsUnused: boolean },
): AgentSnapshot {
  const { normalizer, redaction } = scope.run;
  const rules = normalizer === undefined ? undefined : JSON.stringify(normalizer.recorded);
  const redact = redaction === undefined ? undefined : JSON.stringify(redaction.recorded);
  return snapshotObject(
    scope.frame.dump(Date.now(), traceId, spanId, metadata, rules, redact, run, keepsUnused ? undefined : true),
  );
}

/** Names the calls and sub-agents that failed with an error. It may be caught above or below the frame that it reached. */
function nameFailure(scope: Scope, error: unknown): void {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    for (const origin of at.originsOf(error)) origin.nameInDump();
  }
}
