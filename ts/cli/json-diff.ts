import { defined } from "../values/defined.js";
import { appendToken } from "../values/pointer.js";

export interface Difference {
  pointer: string;
  /** Absent if the value was added. */
  before?: unknown;
  /** Absent if the value was removed. */
  after?: unknown;
}

/** Returns the first `limit` differences between two JSON values. Not recursive, because values may be nested deeply. */
export function differences(before: unknown, after: unknown, limit = 20): Difference[] {
  const found: Difference[] = [];
  const open: [pointer: string, before: unknown, after: unknown][] = [["", before, after]];
  for (let next = open.pop(); next !== undefined && found.length < limit; next = open.pop()) {
    const [pointer, left, right] = next;
    if (!isContainer(left) || !isContainer(right) || Array.isArray(left) !== Array.isArray(right)) {
      if (!isContainer(left) && !isContainer(right) && Object.is(left, right)) continue;
      found.push(defined({ pointer, before: left, after: right }));
      continue;
    }
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
    // Reversed, because the last one is popped first.
    for (const key of keys.toReversed()) open.push([appendToken(pointer, key), own(left, key), own(right, key)]);
  }
  return found;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function own(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
