import type { AgentFrameSnapshot } from "../../types/snapshot.js";
import { contentHash } from "../hash.js";
import { lastOf, type FrameNode } from "./tree.js";

type Memory = Record<string, unknown>;

/** JSON texts by key; `undefined` takes a key out. */
export type MemoryEdits = ReadonlyMap<string, string | undefined>;

/** Sets keys of a frame's memory, or takes them out: as it stands, and at the start of each generation. */
export function editMemory({ frame, generations }: FrameNode, edits: MemoryEdits): void {
  frame.memory = edited(frame.memory, edits);
  for (const generation of generations) {
    const { start } = generation;
    if (start?.memory !== undefined) generation.start = { ...start, memory: edited(start.memory, edits) };
  }
}

/** Makes the keys hold from the start that were edited by hand since the recording was made. */
export function settleMemory(node: FrameNode): void {
  const { frame } = node;
  if (lastOf(node.generations).start?.memory === undefined) return;
  const edits = editsByHand(frame);
  delete frame.memoryHashes;
  if (edits.size > 0) editMemory(node, edits);
}

/** Keys without a hash were added, those with another one edited, and those without a value taken out. */
function editsByHand({ memory, memoryHashes = {} }: AgentFrameSnapshot): MemoryEdits {
  const edits = new Map<string, string | undefined>();
  for (const key of Object.keys(memoryHashes)) if (!Object.hasOwn(memory, key)) edits.set(key, undefined);
  for (const [key, value] of Object.entries(memory)) {
    const text = JSON.stringify(value);
    if (!Object.hasOwn(memoryHashes, key) || memoryHashes[key] !== contentHash(text)) edits.set(key, text);
  }
  return edits;
}

function edited(memory: Memory, edits: MemoryEdits): Memory {
  // A Map, since a key such as "__proto__" is data like any other.
  const entries = new Map(Object.entries(memory));
  for (const [key, text] of edits) {
    if (text === undefined) entries.delete(key);
    else entries.set(key, JSON.parse(text));
  }
  return Object.fromEntries(entries);
}
