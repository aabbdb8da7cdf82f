import { readFileSync } from "node:fs";

import { openAuditLog, type AuditLogOptions } from "agent-rewind/audit";

export function boundary(index: number): Record<string, unknown> {
  return {
    timestamp: `2026-11-29T17:51:48.${String(index).padStart(6, "0")}Z`,
    agentName: "writer",
    messages: [{ role: "user", content: `question ${index}` }],
    tools: [],
    messageHash: String(index).padStart(16, "0"),
    toolsHash: "4f53cda18c2baa0c",
  };
}

export function written(path: string, count: number, options: AuditLogOptions = {}): string[] {
  const log = openAuditLog(path, options);
  for (let index = 0; index < count; index += 1) log.append(boundary(index));
  log.close();
  return linesOf(path);
}

export const linesOf = (path: string): string[] => readFileSync(path, "utf8").trimEnd().split("\n");

export function caught(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}
