import type { AgentFrameSnapshot, CallRecord, Journal } from "agent-rewind";

/** The content of a frame without the numbers that depend on the events of its run. */
export interface FrameFacts {
  agentId: string;
  inputHash: string | undefined;
  status: string;
  output: unknown;
  outputTypes: unknown;
  error: { name: string; message: string } | undefined;
  stopped: boolean;
  memory: Record<string, unknown>;
  budget: unknown;
  journal: Journal;
  calls: unknown[];
  generation: unknown;
  /** The memory at the start of the generation. */
  atStart: Record<string, unknown> | undefined;
}

/**
 * The frames of a tree by callId, those of earlier generations under `<callId>#<generation>`. Omits the frame of
 * `runWith`.
 */
export function factsOf(root: AgentFrameSnapshot): Record<string, FrameFacts> {
  const facts: Record<string, FrameFacts> = {};
  const visit = (frame: AgentFrameSnapshot, place: string): void => {
    const { generations = [], generation } = frame;
    if (frame.agentId !== "") facts[place] = factsOfFrame(frame);
    for (const earlier of generations) {
      const { id, props, propsTypes, memory, journal } = earlier;
      facts[`${place}#${id}`] = {
        ...emptyFacts(frame.agentId),
        generation: { id, props, propsTypes },
        atStart: memory,
        journal,
        calls: earlier.calls.map(factsOfCall),
      };
      for (const child of Object.values(earlier.children))
        visit(child, `${place}#${id}${child.callId.slice(frame.callId.length)}`);
    }
    const here = generations.length === 0 ? place : `${place}#${generation?.id}`;
    for (const child of Object.values(frame.children)) visit(child, here + child.callId.slice(frame.callId.length));
  };
  visit(root, root.callId);
  return facts;
}

function emptyFacts(agentId: string): FrameFacts {
  return {
    agentId,
    inputHash: undefined,
    status: "",
    output: undefined,
    outputTypes: undefined,
    error: undefined,
    stopped: false,
    memory: {},
    budget: undefined,
    journal: { prompt: {}, tool: {} },
    calls: [],
    generation: undefined,
    atStart: undefined,
  };
}

function factsOfFrame(frame: AgentFrameSnapshot): FrameFacts {
  const { state, generation } = frame;
  const error = state.error as { name: string; message: string } | undefined;
  return {
    agentId: frame.agentId,
    inputHash: frame.inputHash,
    status: state.status,
    output: state.output,
    outputTypes: frame.outputTypes,
    error: error && { name: error.name, message: error.message },
    stopped: frame.stopped === true,
    memory: frame.memory,
    budget: frame.budgetState,
    journal: frame.journal,
    calls: (frame.calls ?? []).map(factsOfCall),
    generation: generation && { id: generation.id, props: generation.props, propsTypes: generation.propsTypes },
    atStart: generation?.memory,
  };
}

/** The facts of a call. Its usage and its recorded request are not part of its answer. */
function factsOfCall(call: CallRecord): unknown {
  const { kind, callId, contentHash, row, output, types, tombstone, error, stopped, endOrder } = call;
  return { kind, callId, contentHash, row, output, types, tombstone, error, stopped, ended: endOrder !== undefined };
}

/** The callIds of everything that ended and of everything that started, in the recorded order. */
export function orderOf(root: AgentFrameSnapshot): string[] {
  const marks: [number, string][] = [];
  const visit = (frame: AgentFrameSnapshot): void => {
    const mine = [...(frame.generations ?? []), { calls: frame.calls ?? [], children: frame.children }];
    for (const { calls, children } of mine) {
      for (const each of [...calls, ...Object.values(children)]) {
        if (each.startOrder !== undefined) marks.push([each.startOrder, `start ${each.callId}`]);
        if (each.endOrder !== undefined) marks.push([each.endOrder, `end ${each.callId}`]);
      }
      for (const child of Object.values(children)) visit(child);
    }
  };
  visit(root);
  return marks.toSorted(([left], [right]) => left - right).map(([, mark]) => mark);
}
