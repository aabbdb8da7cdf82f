import { CaptureError } from "../../errors/index.js";
import type { CaptureRecord } from "./boundary-types.js";
import { BoundaryCapture } from "./boundary.js";
import { contentOf, DocumentContent, type RequestContent } from "../request/content.js";
import { canonicalSha256, documentSha256, pythonSha256, SHORT } from "../request/hashes.js";
import { JsonText } from "../request/json-text.js";
import { isRecord } from "../../values/members.js";

/**
 * Returns true if messages have the expected hash: the 16 digits of `messageHash`, or the 64 of `messageSha256`.
 * @throws TypeError if `expectedHash` is not such a hash, CaptureError if the messages cannot be written as JSON.
 */
export function verifyPayload(messages: unknown, expectedHash: string): boolean {
  if (typeof expectedHash !== "string" || !/^(?:[0-9a-f]{16}|[0-9a-f]{64})$/.test(expectedHash)) {
    throw new TypeError(`verifyPayload: expectedHash must be 16 or 64 lower-case hex digits, received ${expectedHash}`);
  }
  return pythonSha256(JsonText.of(messages)).startsWith(expectedHash);
}

/** A hash that does not match the content. */
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
 * Recomputes the hashes of a capture, or of its JSON, from its content and compares them. The `contentHash` of a
 * journaled call is the key of its journal entry and is not checked.
 * @throws CaptureError if the argument is not a capture.
 */
export function verifyCapture(data: BoundaryCapture | CaptureRecord): Verification {
  const content = captureContent(data);
  const faults: HashFault[] = [];
  const check = (field: HashFault["field"], actual: string): void => {
    const expected = data[field];
    if (expected !== actual) faults.push({ field, expected, actual });
  };
  check("messageHash", pythonSha256(content.messages).slice(0, SHORT));
  check("toolsHash", pythonSha256(content.tools).slice(0, SHORT));
  // A record with `exact` has numbers that JSON values cannot represent, so the original document cannot be rebuilt.
  if (!("exact" in data)) check("wireHash", documentSha256(content.document));
  // The key of a journal entry may be the hash of another document, such as one without the fields that `normalize` drops.
  if (data.callId === undefined) check("contentHash", canonicalSha256(content.document));
  return { valid: faults.length === 0, faults };
}

/** The content of a capture or of its JSON. @internal */
export function captureContent(data: BoundaryCapture | CaptureRecord): RequestContent {
  if (data instanceof BoundaryCapture) return BoundaryCapture.contentOf(data);
  // An instance from another copy of the package.
  const record: unknown = "toJSON" in Object(data) ? (data as BoundaryCapture).toJSON() : data;
  const content = recordContent(record as CaptureRecord);
  if (content === undefined) {
    throw new CaptureError(
      "Not a capture: `request` and `messages` are both missing. Pass the result of a capture, or its JSON.",
    );
  }
  return content;
}

/** The content in the JSON of a capture; `undefined` if the value is not a capture. */
export function recordContent(record: CaptureRecord): RequestContent | undefined {
  const fields: unknown = record;
  if (!isRecord(fields)) return undefined;
  const { request, messages, tools, exact } = fields;
  if (typeof request === "string") {
    const source = record.source !== "model";
    return new DocumentContent(
      source ? JsonText.ofBytes(Buffer.from(request, "utf8"), true) : JsonText.ofStringified(request),
    );
  }
  if (isRecord(exact) && typeof exact["messages"] === "string" && typeof exact["tools"] === "string") {
    const source = exact["source"] === true;
    const text = (json: string): JsonText => JsonText.ofBytes(Buffer.from(json, "utf8"), source);
    const parts = { messages: text(exact["messages"]), tools: text(exact["tools"]) };
    const { system, parameters, document, size } = contentOf(messages, tools ?? []);
    return { ...parts, system, parameters, document, size };
  }
  return "messages" in fields ? contentOf(messages, tools ?? []) : undefined;
}
