// Earlier names, where "snapshot" meant a capture. Elsewhere in this package a snapshot is the state of a run.

import { BoundaryCapture } from "./capture/boundary.js";
import type { CaptureDict, CaptureRecord } from "./capture/boundary-types.js";
import type { CaptureCallback } from "./capture/callbacks.js";
import { verifyCapture } from "./capture/verify.js";
import type { MonitorRedactor } from "./monitor/redactor.js";

/** @deprecated Use {@link BoundaryCapture}. */
export const SnapshotHookData: typeof BoundaryCapture = BoundaryCapture;
/** @deprecated Use {@link BoundaryCapture}. */
export type SnapshotHookData = BoundaryCapture;

/** @deprecated Use {@link CaptureRecord}. */
export type SnapshotRecord = CaptureRecord;

/** @deprecated Use {@link CaptureDict}. */
export type SnapshotDict = CaptureDict;

/** @deprecated Use {@link CaptureCallback}. */
export type SnapshotCallback = CaptureCallback;

/** @deprecated Use {@link verifyCapture}. */
export const verifySnapshot: typeof verifyCapture = verifyCapture;

/** @deprecated Use {@link MonitorRedactor}. */
export type Redactor = MonitorRedactor;
