// Groups of messages that must be kept or dropped together: a tool call and its results.

import { isRecord } from "../../values/members.js";

/** A message with its token count. */
export interface Item {
  readonly message: unknown;
  readonly tokens: number;
}

/** Messages that are kept or dropped together. */
export interface Unit {
  readonly indices: number[];
  /** Number of the turn in which the unit begins, from 0. A turn begins with a user message. */
  readonly turn: number;
  /** Never dropped: instructions, and the end of the conversation. */
  pinned: boolean;
}

/** Splits a conversation into units, in the order in which they begin. */
export function unitsOf(messages: readonly unknown[]): Unit[] {
  const units: Unit[] = [];
  /** The unit of the latest call with an id. Some servers reuse ids. */
  const calls = new Map<string, Unit>();
  let turn = 0;
  let last: Unit | undefined;
  for (const [index, message] of messages.entries()) {
    const answered = resultIds(message);
    if (isUserTurn(message, answered)) turn += 1;
    const joined = [...new Set(answered.flatMap((id) => calls.get(id) ?? []))];
    const [first, ...others] = joined;
    let unit = first;
    if (unit === undefined) {
      unit = { indices: [], turn, pinned: isInstruction(message) };
      units.push(unit);
    }
    for (const other of others) merge(unit, other, units, calls);
    unit.indices.push(index);
    for (const id of callIds(message)) calls.set(id, unit);
    last = unit;
  }
  if (last !== undefined) last.pinned = true;
  return units;
}

function merge(into: Unit, from: Unit, units: Unit[], calls: Map<string, Unit>): void {
  into.indices.push(...from.indices);
  into.pinned ||= from.pinned;
  units.splice(units.indexOf(from), 1);
  for (const [id, unit] of calls) if (unit === from) calls.set(id, into);
}

function isInstruction(message: unknown): boolean {
  return isRecord(message) && (message["role"] === "system" || message["role"] === "developer");
}

function isUserTurn(message: unknown, answered: readonly string[]): boolean {
  return isRecord(message) && message["role"] === "user" && answered.length === 0;
}

/** Ids of the tool calls in a message, in the formats of OpenAI (both APIs) and Anthropic. */
export function callIds(message: unknown): string[] {
  if (!isRecord(message)) return [];
  const ids: unknown[] = [];
  if (Array.isArray(message["tool_calls"])) {
    for (const call of message["tool_calls"] as unknown[]) if (isRecord(call)) ids.push(call["id"]);
  }
  for (const block of blocks(message)) if (block["type"] === "tool_use") ids.push(block["id"]);
  if (message["type"] === "function_call") ids.push(message["call_id"]);
  return ids.filter((id): id is string => typeof id === "string");
}

/** Ids of the tool calls whose results a message contains. */
export function resultIds(message: unknown): string[] {
  if (!isRecord(message)) return [];
  const ids: unknown[] = [];
  if (message["role"] === "tool") ids.push(message["tool_call_id"]);
  for (const block of blocks(message)) if (block["type"] === "tool_result") ids.push(block["tool_use_id"]);
  if (message["type"] === "function_call_output") ids.push(message["call_id"]);
  return ids.filter((id): id is string => typeof id === "string");
}

export function blocks(message: Record<string, unknown>): Record<string, unknown>[] {
  const { content } = message;
  return Array.isArray(content) ? (content as unknown[]).filter(isRecord) : [];
}
