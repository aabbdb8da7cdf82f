import { inspect } from "node:util";

import { calling, type NativeSnapshotHandle } from "../native.js";
import { SNAPSHOT } from "../values/kinds.js";
import type { AgentFrameSnapshot, AgentSnapshot } from "../types/snapshot.js";

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
  // Contains `root` as null, so that the accessor gets its position among the fields.
  const snapshot = JSON.parse(handle.textWithoutRoot()) as AgentSnapshot;
  let root: AgentFrameSnapshot | undefined;
  // The frames are stored in the closure, so that the accessor also works on a frozen object.
  let source: NativeSnapshotHandle | undefined = handle;
  const look = (): AgentFrameSnapshot =>
    JSON.parse(calling(() => (source as NativeSnapshotHandle).rootText())) as AgentFrameSnapshot;
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
