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
 * Creates a changed copy of a snapshot. A change drops a call or sub-agent, so that it is executed again; or sets another
 * output, error or memory, so that the run takes another course. The given snapshot is not modified.
 *
 * All changes refer to the given snapshot, so their order does not matter. If two changes set an outcome of one call, the
 * later one counts.
 *
 * - A dropped call or frame keeps its start, without an outcome or content. Everything in the tree that started after its
 *   end is removed. Everything that started before it stays, finished or not. Frames that ended later, and all frames
 *   above a dropped entry, run again.
 * - A frame that lost an entry gets the memory of its generation's start, because later states of the memory were not
 *   recorded; edited keys keep their values. Generations that started later are removed. Spent budgets stay spent.
 * - A change in an earlier generation makes that generation the last one, because later ones would not reach it.
 * - In recordings without lists of calls (old dumps, handwritten snapshots), requests are identified by their contentHash.
 *   The order is not known there, so only the dropped row itself is removed.
 *
 * @returns the fork. Its `provenance.forkedFrom` identifies the given snapshot.
 * @throws ForkError if a change does not fit the snapshot, with the change and the entries that exist.
 * @throws InvalidSnapshotError if the given snapshot is invalid.
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
  // Adds fields that the core does not keep.
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

/** The core's report of a change that does not fit. */
interface Misfit {
  /** Position of the change. */
  change: number;
  /** Path in the change. */
  field: string;
  message: string;
  /** The names that exist. */
  names: string[];
  /** The name that was given. */
  wanted: string | null;
  /** True if the message has to list the names. */
  listed: boolean;
}
