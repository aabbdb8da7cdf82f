// The exact request of a snapshot, for sending it again.

import type { SnapshotRecord } from "./boundary-types.js";
import { SnapshotHookData } from "./boundary.js";
import { snapshotContent } from "./verify.js";

/** A request to a model. */
export interface ExactRequest {
  /** JSON text: byte for byte what was sent, where the network was captured; else the document that was hashed. */
  readonly body: string;
  /** Where it was sent; absent where the network was not captured. Secret parameters are left out. */
  readonly url?: string;
  readonly method?: string;
  /** Without those that hold a secret: add the authorization. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The request that a snapshot, or its JSON, was captured from.
 * @throws CaptureError for what is no snapshot.
 */
export function requestOf(record: SnapshotHookData | SnapshotRecord): ExactRequest {
  const { document } = snapshotContent(record);
  const body = document.source ? document.bytes.toString("utf8") : document.wire;
  const { wire } = record;
  return wire === undefined ? { body } : { body, url: wire.url, method: wire.method, headers: { ...wire.headers } };
}
