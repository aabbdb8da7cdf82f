import { calling, native } from "../native.js";

/** Members that contain only time, names and counts. */
const KEPT = new Set([
  "timestamp",
  "session_id",
  "sessionId",
  "agent_name",
  "agentName",
  "agentId",
  "message_count",
  "messageCount",
  "tools_count",
  "toolsCount",
]);

/**
 * Reduces a boundary record to hashes, counts, time and names, without content. Adds hashes of the whole record and of
 * each message and tool (SHA-256 of the RFC 8785 form, as in `contentHash`).
 */
export function hashesOf(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(record).filter(
    ([key, value]) => (KEPT.has(key) && isPlain(value)) || (/hash$/i.test(key) && isHash(value)),
  );
  return {
    ...Object.fromEntries(kept),
    ...hashList("messageHashes", record["messages"]),
    ...hashList("toolHashes", record["tools"]),
    recordHash: hash(record),
  };
}

function hashList(name: string, list: unknown): Record<string, string[]> {
  return Array.isArray(list) ? { [name]: list.map(hash) } : {};
}

function hash(value: unknown): string {
  return calling(() => native.contentHash(JSON.stringify(value) ?? "null"));
}

function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number";
}

function isHash(value: unknown): boolean {
  return typeof value === "string" && /^(?:sha256:)?[0-9a-f]{8,128}$/i.test(value);
}
