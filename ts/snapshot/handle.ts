import { inspect } from "node:util";

import type { NativeSnapshotHandle } from "../native.js";
import { SNAPSHOT } from "../values/kinds.js";
import type {
  AgentFrameSnapshot,
  AgentSnapshot,
  Provenance,
  Recorder,
  RecordedRedaction,
  RecordedRule,
  SnapshotWarning,
} from "../types/snapshot.js";

/** Handles of the snapshots whose `root` was never accessed. */
const untouched = new WeakMap<object, NativeSnapshotHandle>();

/** The handle of a snapshot; `undefined` once its `root` was accessed. */
export function handleOf(snapshot: object): NativeSnapshotHandle | undefined {
  return untouched.get(snapshot);
}

/**
 * The snapshot as a plain object. The frames are parsed at the first access to `root`. From then on the handle is not used,
 * because the object may have been edited.
 */
export function snapshotObject(handle: NativeSnapshotHandle): AgentSnapshot {
  const { fields } = handle;
  const provenance: Provenance = { traceId: fields.traceId };
  if (fields.spanId != null) provenance.spanId = fields.spanId;
  if (fields.anchor != null) provenance.anchor = fields.anchor as "before" | "after";
  if (fields.source != null) provenance.source = fields.source as "dump" | "restore";
  if (fields.forkedFrom != null)
    provenance.forkedFrom = JSON.parse(fields.forkedFrom) as NonNullable<Provenance["forkedFrom"]>;
  const snapshot = {
    processId: fields.processId,
    timestamp: fields.timestamp,
    // Reserves the position among the fields. The accessor is defined below.
    root: undefined as unknown as AgentFrameSnapshot,
    provenance,
    version: 1,
  } satisfies AgentSnapshot as AgentSnapshot;
  let root: AgentFrameSnapshot | undefined;
  // The frames are stored in the closure, so that the accessor also works on a frozen object.
  let source: NativeSnapshotHandle | undefined = handle;
  const look = (): AgentFrameSnapshot => JSON.parse((source as NativeSnapshotHandle).rootText()) as AgentFrameSnapshot;
  const touch = (value: AgentFrameSnapshot): void => {
    root = value;
    source = undefined;
    untouched.delete(snapshot);
  };
  Object.defineProperty(snapshot, "root", {
    configurable: true,
    enumerable: true,
    get(): AgentFrameSnapshot {
      if (source !== undefined) touch(look());
      return root as AgentFrameSnapshot;
    },
    set: touch,
  });
  if (fields.recorder != null) snapshot.recorder = JSON.parse(fields.recorder) as Recorder;
  if (fields.metadata != null) snapshot.metadata = JSON.parse(fields.metadata) as Record<string, unknown>;
  if (fields.warnings != null) snapshot.warnings = JSON.parse(fields.warnings) as SnapshotWarning[];
  if (fields.normalize != null) snapshot.normalize = JSON.parse(fields.normalize) as RecordedRule[];
  if (fields.redact != null) snapshot.redact = JSON.parse(fields.redact) as RecordedRedaction;
  // Not enumerable, and without access to `root`: a snapshot that is printed or written keeps its handle.
  const show = {
    value(): object {
      const shown: Record<string, unknown> = { ...withoutRoot(snapshot), root: source === undefined ? root : look() };
      return Object.fromEntries(Object.keys(snapshot).map((key) => [key, shown[key]]));
    },
  };
  // The encoder rejects objects with `toJSON`. So a run that returns its own snapshot does not get a copy of itself in its
  // journal and trace.
  Object.defineProperties(snapshot, { [inspect.custom]: show, toJSON: show, [SNAPSHOT]: { value: true } });
  untouched.set(snapshot, handle);
  return snapshot;
}

/** The current fields of a snapshot, except `root`. */
export function withoutRoot(snapshot: AgentSnapshot): Omit<AgentSnapshot, "root"> {
  const entries = Object.keys(snapshot).filter((key) => key !== "root");
  return Object.fromEntries(
    entries.map((key) => [key, (snapshot as unknown as Record<string, unknown>)[key]]),
  ) as unknown as Omit<AgentSnapshot, "root">;
}
