// A snapshot that was kept as JSON.

import type { SnapshotRecord } from "./capture/boundary-types.js";
import { contentOf, DocumentContent, type RequestContent } from "./request/content.js";
import { JsonText } from "./request/json-text.js";
import { isObject } from "./window/tokens.js";

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
