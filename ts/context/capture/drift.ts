import { calling, native } from "../../native.js";
import type { Difference } from "../../types/miss.js";
import type { CaptureRecord } from "./boundary-types.js";
import { BoundaryCapture } from "./boundary.js";
import type { RequestContent } from "../request/content.js";
import { pythonSha256, withLastKeys } from "../request/hashes.js";
import { JsonText } from "../request/json-text.js";
import { comparePrefix, type CachePrefix } from "../request/prefix.js";
import { captureContent } from "./verify.js";

export interface Drift {
  /** True if anything differs. */
  readonly changed: boolean;
  readonly messagesChanged: boolean;
  readonly toolsChanged: boolean;
  /** True if a separate system prompt or another member of the request changed. */
  readonly othersChanged: boolean;
  /** JSON pointer to the first difference. */
  readonly first?: string;
  /** The first differences. `recorded` is the value in the earlier request. */
  readonly differences: readonly Difference[];
  /** The number of further differences. */
  readonly more: number;
  /** The common prefix of both requests, which a provider's prompt cache can reuse. */
  readonly cache: CachePrefix;
}

/**
 * Compares two captures, or their JSON.
 * @throws CaptureError if an argument is not a capture.
 */
export function detectDrift(earlier: BoundaryCapture | CaptureRecord, later: BoundaryCapture | CaptureRecord): Drift {
  const [before, after] = [captureContent(earlier), captureContent(later)];
  const { differences, more } = differencesOf(before, after);
  const first = differences[0]?.pointer;
  const differs = (part: (content: RequestContent) => JsonText | undefined): boolean =>
    hashOf(part(before)) !== hashOf(part(after));
  const messagesChanged = differs(({ messages }) => messages);
  const toolsChanged = differs(({ tools }) => tools);
  const othersChanged = differs(({ system }) => system) || differs(({ parameters }) => parameters);
  return {
    changed: messagesChanged || toolsChanged || othersChanged,
    messagesChanged,
    toolsChanged,
    othersChanged,
    ...(first === undefined ? {} : { first }),
    differences,
    more,
    cache: comparePrefix(before, after, { differences, more }),
  };
}

function hashOf(part: JsonText | undefined): string {
  return part === undefined ? "" : pythonSha256(part);
}

function differencesOf(before: RequestContent, after: RequestContent): { differences: Difference[]; more: number } {
  const [left, right] = [before.document, after.document];
  const text = withLastKeys(left, (leftText) =>
    withLastKeys(right, (rightText) =>
      calling(() => native.diffDocuments(Buffer.from(leftText.wire), Buffer.from(rightText.wire))),
    ),
  );
  return JSON.parse(text) as { differences: Difference[]; more: number };
}
