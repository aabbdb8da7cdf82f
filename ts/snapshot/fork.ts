import { ForkError } from "../errors/index.js";
import { fromNativeError, native, type NativeSnapshotHandle } from "../native.js";
import type { AgentSnapshot, Provenance } from "../types/snapshot.js";
import { checkChanges, type CheckedChange, type ForkChange } from "./fork/changes.js";
import { unknownName } from "./fork/unknown-name.js";
import { snapshotObject } from "./handle.js";
import { checkSnapshot, handleWith } from "./open.js";

export type { CallIdTarget, ContentHashTarget, ForkChange, ForkTarget } from "./fork/changes.js";
export { ForkError, isForkError } from "../errors/index.js";

/**
 * Makes a new snapshot out of another one: with calls and sub-agents taken out, so that they are executed again; with
 * other outputs or failures, that steer the run elsewhere; with other memory. The other one stays as it is.
 *
 * All changes name places in the given snapshot, so their order does not matter; of two outputs for one call the later
 * counts.
 *
 * - What is taken out keeps its place, as started and holding nothing yet. What was started after its end goes, in the
 *   whole tree; what had started before stays, finished or not. Frames that ended later, and all above what was taken
 *   out, run again.
 * - A frame that lost something has the memory of its generation's start, since what it was in between was not recorded;
 *   keys that were edited stay so. Generations that started later are gone. What was used up of budgets stays used up.
 * - A change in an earlier generation makes that one the last: later ones would not come to it.
 * - In recordings without lists of calls (old dumps, snapshots made by hand) requests are named by their contentHash.
 *   Nothing is known there of what came later, so a dropped row goes alone.
 *
 * @returns the fork; its `provenance.forkedFrom` names the snapshot that it was made of.
 * @throws ForkError for a change that does not fit, with the place, and with what there is to be changed.
 * @throws InvalidSnapshotError if the given snapshot is not one.
 *
 * @example
 * ```ts
 * import { resume } from "agent-rewind";
 * import { forkSnapshot, readSnapshot } from "agent-rewind/debugger";
 *
 * export async function whatIf(agent: () => Promise<string>): Promise<string> {
 *   const snapshot = await readSnapshot("run.json");
 *   const colder = forkSnapshot(snapshot, { at: "root/agent:adviser:0/tool:thermometer:0", output: -9 });
 *   return resume(agent, { snapshot: colder });
 * }
 * ```
 */
export function forkSnapshot(snapshot: AgentSnapshot, changes: ForkChange | readonly ForkChange[]): AgentSnapshot {
  const checked = checkChanges(changes);
  const { handle, snapshot: source } = checkSnapshot(snapshot);
  const timestamp = Date.now();
  const { processId, ...kept } = JSON.parse(JSON.stringify(source)) as typeof source;
  const forkedFrom: Provenance["forkedFrom"] = { processId, timestamp: source.timestamp };
  const fields = {
    ...kept,
    processId: `fork:${processId}:${timestamp}`,
    timestamp,
    provenance: { ...kept.provenance, forkedFrom },
  };
  const fork = forked(checked, () =>
    native.forkSnapshot(
      handle,
      handleWith(fields),
      checked.map(({ crossing }) => crossing),
    ),
  );
  // Fields that the core does not keep are part of the object.
  return Object.assign(snapshotObject(fork), fields);
}

/** @throws ForkError */
function forked(checked: readonly CheckedChange[], fork: () => NativeSnapshotHandle): NativeSnapshotHandle {
  try {
    return fork();
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_REWIND_FORK") throw fromNativeError(error);
    const { change, field, message, names, wanted, listed } = JSON.parse((error as Error).message) as Misfit;
    const { path, given } = checked[change] as CheckedChange;
    const place = field === "" ? path : `${path}.${field}`;
    throw listed
      ? unknownName(place, message, wanted, names, given)
      : new ForkError(place, message, { at: given, known: names });
  }
}

/** A change that does not fit, as the core reports it. */
interface Misfit {
  /** Which change. */
  change: number;
  /** Path in the change. */
  field: string;
  message: string;
  /** The names that would fit. */
  names: string[];
  /** The name that was given. */
  wanted: string | null;
  /** The message has to list the names. */
  listed: boolean;
}
