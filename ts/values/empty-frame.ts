import type { AgentFrameSnapshot, UsageStats } from "../types/snapshot.js";

const NO_USAGE: UsageStats = {
  costs: {},
  totalTokens: 0,
  promptTokens: 0,
  completionTokens: 0,
  callCount: 0,
  items: [],
};

/** A valid frame that has just started. */
export function emptyFrame(
  callId = "root",
  agentId = "",
): AgentFrameSnapshot & Required<Pick<AgentFrameSnapshot, "calls">> {
  return {
    callId,
    agentId,
    memory: {},
    journal: { prompt: {}, tool: {} },
    children: {},
    state: { status: "running" },
    budgetState: { own: NO_USAGE, aggregate: NO_USAGE },
    calls: [],
    generation: { id: 0, memory: {} },
  };
}
