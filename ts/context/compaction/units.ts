// Messages that stand or fall together: a tool call and the results that answer it.

import { isObject } from "../request/json-text.js";

/** A message on its way through a strategy. */
export interface Item {
  readonly message: unknown;
  readonly tokens: number;
}

/** Messages that are kept or dropped as one. */
export interface Unit {
  readonly indices: number[];
  /** Number of the turn, from 0, that it begins in; a turn begins with a message of the user. */
  readonly turn: number;
  /** Kept whatever happens: instructions, and the end of the conversation. */
  pinned: boolean;
}

/** Cuts a conversation into units, in the order in which they begin. */
export function unitsOf(messages: readonly unknown[]): Unit[] {
  const units: Unit[] = [];
  /** The unit of the latest call with an id: some servers use an id again. */
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
  return isObject(message) && (message["role"] === "system" || message["role"] === "developer");
}

function isUserTurn(message: unknown, answered: readonly string[]): boolean {
  return isObject(message) && message["role"] === "user" && answered.length === 0;
}

/** Ids of the tool calls that a message makes, in the forms of OpenAI (both APIs) and Anthropic. */
export function callIds(message: unknown): string[] {
  if (!isObject(message)) return [];
  const ids: unknown[] = [];
  if (Array.isArray(message["tool_calls"])) {
    for (const call of message["tool_calls"] as unknown[]) if (isObject(call)) ids.push(call["id"]);
  }
  for (const block of blocks(message)) if (block["type"] === "tool_use") ids.push(block["id"]);
  if (message["type"] === "function_call") ids.push(message["call_id"]);
  return ids.filter((id): id is string => typeof id === "string");
}

/** Ids of the tool calls that a message answers. */
export function resultIds(message: unknown): string[] {
  if (!isObject(message)) return [];
  const ids: unknown[] = [];
  if (message["role"] === "tool") ids.push(message["tool_call_id"]);
  for (const block of blocks(message)) if (block["type"] === "tool_result") ids.push(block["tool_use_id"]);
  if (message["type"] === "function_call_output") ids.push(message["call_id"]);
  return ids.filter((id): id is string => typeof id === "string");
}

/** Blocks of a message's content. */
export function blocks(message: Record<string, unknown>): Record<string, unknown>[] {
  const { content } = message;
  return Array.isArray(content) ? (content as unknown[]).filter(isObject) : [];
}
