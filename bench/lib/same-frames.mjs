import assert from "node:assert/strict";

/** Fails unless two root frames have the same frames with the same state, memory, budget and answers. */
export function assertSameFrames(actual, expected) {
  const [ours, theirs] = [actual, expected].map(flattened);
  assert.equal(ours.length, theirs.length, "the number of frames");
  for (const [index, frame] of theirs.entries()) assert.deepEqual(ours[index], frame);
}

function flattened(root) {
  const list = [];
  for (const open = [root]; open.length > 0;) {
    const { callId, agentId, memory, journal, children, state, budgetState } = open.pop();
    const { prompt, tool } = journal;
    const { own, aggregate } = budgetState;
    const tokens = [own.totalTokens, aggregate.totalTokens, aggregate.items.length];
    list.push({ callId, agentId, memory, prompt, tool, state, tokens });
    open.push(...Object.values(children));
  }
  return list;
}
