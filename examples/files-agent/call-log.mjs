// Logs the live calls in order: requests by their body, tools by agent, name and input.

export function createCallLog() {
  const keys = [];
  return {
    add: (key) => void keys.push(key),
    get count() {
      return keys.length;
    },
    /** The calls after the first `count`. */
    since: (count) => keys.slice(count),
  };
}

/** The number of calls in `later` that are also in `earlier`. Each earlier call is matched once. */
export function countRepeats(earlier, later) {
  const left = new Map();
  for (const key of earlier) left.set(key, (left.get(key) ?? 0) + 1);
  let repeats = 0;
  for (const key of later) {
    const count = left.get(key) ?? 0;
    if (count === 0) continue;
    left.set(key, count - 1);
    repeats += 1;
  }
  return repeats;
}
