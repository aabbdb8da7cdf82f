import { InvalidSnapshotError, isInvalidSnapshotError, LimitError, type Fault } from "../errors/index.js";
import { kindOf } from "../errors/received.js";
import { wrongKind } from "../files/kind.js";
import { calling, native, type NativeSnapshotHandle } from "../native.js";
import { emptyFrame } from "../values/empty-frame.js";
import type { Normalizer } from "../values/normalize.js";
import type { AgentSnapshot, RecordedRule, Recorder } from "../types/snapshot.js";
import { checkSameRules } from "../redact/redactor.js";
import type { Redaction } from "../redact/redaction.js";
import { handleOf, withoutRoot } from "./handle.js";
import { hashesUnder } from "./rehash.js";
import { inPieces, LONG_TEXT } from "./text-pieces.js";

/** A snapshot that has been checked. */
export interface OpenSnapshot {
  readonly handle: NativeSnapshotHandle;
  readonly snapshot: Omit<AgentSnapshot, "root">;
}

/**
 * Checks a snapshot of any source. The frames are not checked again if `root` was never accessed.
 * @param normalizer the rules of the run. If the snapshot was recorded with other rules, its hashes are computed again.
 * @param redaction the rules of the run, which must be equal to those of the snapshot.
 * @throws InvalidSnapshotError with all faults, LimitError, NormalizeError, RedactError
 */
export function openSnapshot(snapshot: AgentSnapshot, normalizer?: Normalizer, redaction?: Redaction): OpenSnapshot {
  const opened = checkSnapshot(snapshot);
  checkSameRules(opened.snapshot.redact, redaction?.recorded);
  const recorded = opened.snapshot.normalize ?? [];
  if (sameRules(recorded, normalizer?.recorded ?? [])) return opened;
  const { calls, inputs } = hashesUnder(normalizer, opened.handle);
  const handle = native.rehashSnapshot(opened.handle, handleWith(opened.snapshot), calls, inputs);
  return { handle, snapshot: opened.snapshot };
}

function sameRules(left: readonly RecordedRule[], right: readonly RecordedRule[]): boolean {
  return (
    left.length === right.length &&
    left.every(({ id, definition }, index) => {
      const other = right[index];
      return other?.id === id && other.definition === definition;
    })
  );
}

/** Like {@link openSnapshot}, but ignores the rules of the snapshot. */
export function checkSnapshot(snapshot: AgentSnapshot): OpenSnapshot {
  if (typeof snapshot !== "object" || snapshot === null) {
    const received = kindOf(snapshot);
    const hint = received === "string" ? "; readSnapshot(path) reads a file, parseSnapshot(text) a text" : "";
    throw new InvalidSnapshotError([{ path: "", message: `expected a snapshot object, received ${received}${hint}` }]);
  }
  if (snapshot instanceof Promise) {
    const message = "expected a snapshot object, received a promise; await it";
    throw new InvalidSnapshotError([{ path: "", message }]);
  }
  const fields = withoutRoot(snapshot);
  const handle = handleOf(snapshot);
  if (handle === undefined) {
    const message = wrongKind(snapshot, "snapshot");
    if (message !== undefined) throw new InvalidSnapshotError([{ path: "", message }]);
    return { handle: read(snapshot), snapshot: fields };
  }
  handleWith(fields);
  return { handle, snapshot: fields };
}

/**
 * A snapshot with these fields and an empty root frame.
 * @throws InvalidSnapshotError with all faults
 */
export function handleWith(fields: Omit<AgentSnapshot, "root">): NativeSnapshotHandle {
  return read({ ...fields, root: emptyFrame() });
}

/** The faults of a recorder: its shape, and replay flags of a newer version. */
export function recorderFaults(recorder: Recorder): readonly Fault[] {
  try {
    handleWith({ processId: "", timestamp: 0, provenance: { traceId: "" }, version: 1, recorder });
    return [];
  } catch (error) {
    if (!isInvalidSnapshotError(error)) throw error;
    return error.faults;
  }
}

function read(snapshot: object): NativeSnapshotHandle {
  const text = jsonText(snapshot);
  if (text.length < LONG_TEXT) return calling(() => native.SnapshotHandle.read(text));
  return calling(() => native.SnapshotHandle.readPieces(inPieces(text)));
}

function jsonText(snapshot: object): string {
  try {
    return JSON.stringify(snapshot);
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw new LimitError(
        "the snapshot is nested too deeply: it can have at most 1,000 frames and 1,000 levels of JSON",
        { path: "root", cause },
      );
    }
    throw new InvalidSnapshotError([{ path: "", message: `not JSON: ${(cause as Error).message}` }], { cause });
  }
}
