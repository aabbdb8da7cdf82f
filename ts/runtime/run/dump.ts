import { requireContext, type RunContext } from "../scope/run-context.js";
import { checkOptionNames } from "../../errors/option-names.js";
import { SnapshotDisabledError } from "../../errors/index.js";
import type { AgentSnapshot } from "../../types/snapshot.js";
import type { NativeSnapshotHandle } from "../../native.js";
import { snapshotObject } from "../../snapshot/handle.js";
import { checkSnapshot } from "../../snapshot/open.js";
import { metadataText } from "../../snapshot/metadata.js";

const OPTION_NAMES = { metadata: true, context: true } as const;

/**
 * Returns a snapshot of the current run: all its frames, and everything journaled in them so far. The cost does not
 * depend on the length of the run, and later events do not change the snapshot.
 *
 * @param options.metadata your own tags, as JSON values.
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
  // In a recorded test, a dump must be equal at record and replay: nothing that the run has not reached is in it.
  const isInside = run.frameCallId !== undefined;
  const handle = frame.dump(Date.now(), traceId, spanId, kept, rules, redact, isInside);
  return snapshotObject(isInside ? runAlone(handle, run.frameCallId) : handle);
}

/** The run at a path of a recording session, as if it had been started outside of the session. */
function runAlone(handle: NativeSnapshotHandle, callId: string): NativeSnapshotHandle {
  const whole = snapshotObject(handle);
  const { children, requestTexts } = whole.root;
  const frame = children[callId];
  if (frame === undefined) return handle;
  const root = { ...frame, callId: "root", ...(requestTexts === undefined ? {} : { requestTexts }) };
  return checkSnapshot({ ...whole, root }).handle;
}
