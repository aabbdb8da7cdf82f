// Whether a snapshot is what it says, and whether a payload is what was captured.

import { CaptureError } from "../../errors/index.js";
import type { SnapshotRecord } from "./boundary-types.js";
import { SnapshotHookData } from "./boundary.js";
import { contentOf, DocumentContent, type RequestContent } from "../request/content.js";
import { canonicalSha256, documentSha256, pythonSha256, SHORT } from "../request/hashes.js";
import { isObject, JsonText } from "../request/json-text.js";

/**
 * Whether messages have a hash: the 16 digits of `messageHash`, or the 64 of `messageSha256`.
 * @throws TypeError if `expectedHash` is no such hash, CaptureError if the messages cannot be written as JSON.
 */
export function verifyPayload(messages: unknown, expectedHash: string): boolean {
  if (typeof expectedHash !== "string" || !/^(?:[0-9a-f]{16}|[0-9a-f]{64})$/.test(expectedHash)) {
    throw new TypeError(`verifyPayload: expectedHash must be 16 or 64 lower-case hex digits, received ${expectedHash}`);
  }
  return pythonSha256(JsonText.of(messages)).startsWith(expectedHash);
}

/** A hash that is not that of the content. */
export interface HashFault {
  readonly field: "messageHash" | "toolsHash" | "contentHash" | "wireHash";
  readonly expected: string;
  readonly actual: string;
}

export interface Verification {
  readonly valid: boolean;
  readonly faults: readonly HashFault[];
}

/**
 * Computes the hashes of a snapshot, or of its JSON, anew from what it holds. The `contentHash` of a journaled call is
 * the key of its journal entry, and is not computed anew.
 * @throws CaptureError for what is no snapshot.
 */
export function verifySnapshot(data: SnapshotHookData | SnapshotRecord): Verification {
  const content = snapshotContent(data);
  const faults: HashFault[] = [];
  const check = (field: HashFault["field"], actual: string): void => {
    const expected = data[field];
    if (expected !== actual) faults.push({ field, expected, actual });
  };
  check("messageHash", pythonSha256(content.messages).slice(0, SHORT));
  check("toolsHash", pythonSha256(content.tools).slice(0, SHORT));
  // Digits that JSON values cannot hold are not in the text that is put together again.
  if (!("exact" in data)) check("wireHash", documentSha256(content.document));
  // The key of a journal entry may be the hash of another document: without what `normalize` leaves out, for one.
  if (data.callId === undefined) check("contentHash", canonicalSha256(content.document));
  return { valid: faults.length === 0, faults };
}

/** The texts of a snapshot or of its JSON. @internal */
export function snapshotContent(data: SnapshotHookData | SnapshotRecord): RequestContent {
  if (data instanceof SnapshotHookData) return SnapshotHookData.contentOf(data);
  // One of the package's other copy.
  const record: unknown = "toJSON" in Object(data) ? (data as SnapshotHookData).toJSON() : data;
  const content = recordContent(record as SnapshotRecord);
  if (content === undefined) {
    throw new CaptureError(
      "This is no snapshot: it has neither a request nor messages. Give what a capture gave, or its JSON.",
    );
  }
  return content;
}

/** The texts in a snapshot's JSON; `undefined` for what is none. */
export function recordContent(record: SnapshotRecord): RequestContent | undefined {
  const fields: unknown = record;
  if (!isObject(fields)) return undefined;
  const { request, messages, tools, exact } = fields;
  if (typeof request === "string") {
    const source = record.source !== "model";
    return new DocumentContent(
      source ? JsonText.ofBytes(Buffer.from(request, "utf8"), true) : JsonText.ofStringified(request),
    );
  }
  if (isObject(exact) && typeof exact["messages"] === "string" && typeof exact["tools"] === "string") {
    const source = exact["source"] === true;
    const text = (json: string): JsonText => JsonText.ofBytes(Buffer.from(json, "utf8"), source);
    const parts = { messages: text(exact["messages"]), tools: text(exact["tools"]) };
    const { system, parameters, document, size } = contentOf(messages, tools ?? []);
    return { ...parts, system, parameters, document, size };
  }
  return "messages" in fields ? contentOf(messages, tools ?? []) : undefined;
}
