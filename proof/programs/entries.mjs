/** All journal entries of a snapshot, in an order that does not depend on when they happened. */
export function entriesOf({ root }) {
  const entries = [];
  const frames = [{ frame: root, path: "" }];
  for (let at = frames.pop(); at !== undefined; at = frames.pop()) {
    const { frame, path } = at;
    const name = `${path}/${frame.agentId}:${frame.inputHash}`;
    entries.push(`${name} ${frame.state.status}`);
    for (const { calls = [], journal, children, generation, id } of [frame, ...(frame.generations ?? [])]) {
      const inside = `${name}@${generation?.id ?? id}`;
      for (const call of calls) entries.push(`${inside} ${call.kind} ${call.contentHash} ${endOf(call, journal)}`);
      for (const child of Object.values(children)) frames.push({ frame: child, path: inside });
    }
  }
  return entries.toSorted();
}

function endOf({ kind, contentHash, row, output, error, tombstone }, journal) {
  if (error !== undefined) return `failed ${error.name}: ${error.message}`;
  if (tombstone !== undefined) return `tombstone ${tombstone}`;
  const rows = kind === "prompt" || kind === "tool" ? journal[kind] : journal.other?.[kind];
  return JSON.stringify(row ? rows?.[contentHash]?.output : output, alike) ?? "pending";
}

/**
 * The parts that are equal in all schedules. They exclude the stack of an error and the time at which an unread body
 * was collected.
 */
function alike(key, value) {
  if (key === "stack") return undefined;
  return key === "end" && value === "open" ? "left" : value;
}
