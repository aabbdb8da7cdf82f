import type { CaptureRecord } from "./boundary-types.js";
import { BoundaryCapture } from "./boundary.js";
import { captureContent } from "./verify.js";

/** A request to a model, ready to be sent again. */
export interface ExactRequest {
  /** JSON text: the exact bytes that were sent if captured at the network, otherwise the document that was hashed. */
  readonly body: string;
  /** The URL without secret parameters. Absent if not captured at the network. */
  readonly url?: string;
  readonly method?: string;
  /** The headers without secrets. Add the authorization before sending. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Returns the request that a capture, or its JSON, was made from.
 * @throws CaptureError if the argument is not a capture.
 */
export function requestOf(record: BoundaryCapture | CaptureRecord): ExactRequest {
  const { document } = captureContent(record);
  const body = document.source ? document.bytes.toString("utf8") : document.wire;
  const { wire } = record;
  return wire === undefined ? { body } : { body, url: wire.url, method: wire.method, headers: { ...wire.headers } };
}
