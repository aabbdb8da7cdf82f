export { dumpSnapshot } from "./runtime/run/dump.js";
export {
  parseSnapshot,
  readSnapshot,
  restoreSnapshotFromFile,
  stringifySnapshot,
  writeSnapshot,
} from "./snapshot/files.js";
export {
  ForkError,
  forkSnapshot,
  isForkError,
  type CallIdTarget,
  type ContentHashTarget,
  type ForkChange,
  type ForkTarget,
} from "./snapshot/fork.js";
export { canonicalize, contentHash } from "./snapshot/hash.js";
export { restoreSnapshot } from "./snapshot/restore.js";
export { collectTrace } from "./trace/collect.js";
export { exportTrace, readTrace, type ReadTraceOptions } from "./trace/read.js";
export { createTraceWriter } from "./trace/writer.js";
export type * from "./types/snapshot.js";
