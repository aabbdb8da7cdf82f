import { unitsOf, type Item, type Unit } from "./units.js";

/** Drops the oldest units until the rest fits, or only pinned units are left. */
export function truncate(items: readonly Item[], target: number): Item[] {
  return dropWhile(items, (_unit, tokens) => tokens > target);
}

/** Keeps the latest turns, and drops the oldest units of those until the rest fits. */
export function slidingWindow(items: readonly Item[], target: number, turns: number): Item[] {
  const lastTurn = Math.max(0, ...unitsOf(messagesOf(items)).map(({ turn }) => turn));
  const recent = dropWhile(items, ({ turn }) => turn <= lastTurn - turns);
  return truncate(recent, target);
}

function dropWhile(items: readonly Item[], goes: (unit: Unit, tokens: number) => boolean): Item[] {
  let tokens = sum(items);
  const dropped = new Set<number>();
  for (const unit of unitsOf(messagesOf(items))) {
    if (unit.pinned || !goes(unit, tokens)) continue;
    for (const index of unit.indices) {
      dropped.add(index);
      tokens -= items[index]?.tokens ?? 0;
    }
  }
  return items.filter((_item, index) => !dropped.has(index));
}

export function messagesOf(items: readonly Item[]): unknown[] {
  return items.map(({ message }) => message);
}

export function sum(items: readonly Item[]): number {
  return items.reduce((total, { tokens }) => total + tokens, 0);
}
