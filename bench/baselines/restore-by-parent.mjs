// Restores frames from events in one pass by the parents of spans, as usual in JavaScript. Checks, orders and repairs
// nothing.

/** The events of a trace file. */
export function parseLines(buffer) {
  const events = [];
  for (const line of buffer.toString().split("\n")) {
    if (line !== "") events.push(JSON.parse(line));
  }
  return events;
}

/** The root frame after the last event. */
export function restoreByParent(events) {
  const run = newFrame("root", "", undefined);
  /** The frame of a span. */
  const owners = new Map();
  for (const event of events) {
    const { spanId, parentSpanId } = event.trace;
    let owner = owners.get(spanId);
    if (owner === undefined) {
      owner = owners.get(parentSpanId) ?? run;
      if (event.type === "agent:start") {
        const frame = newFrame(event.callId, event.agentId, owner);
        owner.children.set(event.callId, frame);
        owner = frame;
      }
      owners.set(spanId, owner);
    }
    apply(event, owner);
  }
  const [only] = run.children.values();
  return toSnapshot(run.children.size === 1 && run.calls.length === 0 ? only : run);
}

function newFrame(callId, agentId, parent) {
  const state = { status: "running" };
  return {
    callId,
    agentId,
    parent,
    memory: {},
    calls: [],
    children: new Map(),
    state,
    own: newUsage(),
    aggregate: newUsage(),
  };
}

function apply(event, frame) {
  switch (event.type) {
    case "runWith:end":
    case "agent:end":
      frame.state = event.success
        ? { status: "completed", output: event.result }
        : { status: "failed", error: event.error };
      break;
    case "generation:start":
      frame.props = event.props;
      frame.memory = event.memory;
      break;
    case "generation:end":
      frame.memory = event.memory;
      break;
    case "turn:end":
      put(frame, "prompt", event, event.callId, event.message);
      break;
    case "tool:call:end":
      put(frame, "tool", event, event.journalCallId, event.output);
      break;
    case "call:end":
      put(frame, event.kind, event, event.callId, event.output);
      break;
    case "budget:update":
      addUsage(frame.own, event.delta);
      for (let at = frame; at !== undefined; at = at.parent) addUsage(at.aggregate, event.delta);
      break;
    default:
  }
}

function put(frame, kind, { contentHash, success, error }, callId, output) {
  frame.calls.push(success ? { kind, callId, contentHash, output } : { kind, callId, contentHash, error });
}

function newUsage() {
  return { costs: {}, totalTokens: 0, promptTokens: 0, completionTokens: 0, callCount: 0, items: [] };
}

function addUsage(usage, delta) {
  usage.totalTokens += delta.totalTokens;
  usage.promptTokens += delta.promptTokens;
  usage.completionTokens += delta.completionTokens;
  usage.callCount += delta.callCount;
  addCosts(usage.costs, delta.costs);
  for (const item of delta.items) {
    const known = usage.items.find(({ type, name, provider }) => {
      return type === item.type && name === item.name && provider === item.provider;
    });
    if (known === undefined) usage.items.push(structuredClone(item));
    else {
      addCosts(known.costs, item.costs);
      if (item.tokens) for (const key of ["prompt", "completion", "total"]) known.tokens[key] += item.tokens[key];
    }
  }
}

function addCosts(costs, more) {
  for (const unit of Object.keys(more)) costs[unit] = (costs[unit] ?? 0) + more[unit];
}

/** Converts a frame to the documented shape. */
function toSnapshot({ callId, agentId, memory, calls, children, state, own, aggregate }) {
  const journal = { prompt: {}, tool: {} };
  for (const call of calls) {
    if ("error" in call) continue;
    (journal[call.kind] ??= {})[call.contentHash] = { output: call.output, contentHash: call.contentHash };
  }
  const frames = {};
  for (const [id, child] of children) frames[id] = toSnapshot(child);
  return { callId, agentId, memory, journal, children: frames, state, budgetState: { own, aggregate } };
}
