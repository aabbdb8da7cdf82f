// Runs a program. Each statement is code that the author of an agent would write.

import {
  callTool,
  createAgent,
  equipInstruction,
  equipMemory,
  equipTool,
  getContext,
  journalCall,
  promptAgent,
  reborn,
  runFrame,
} from "agent-rewind";
import { z } from "zod";

import { digest } from "../lib/random.mjs";
import { Frame } from "./frame.mjs";
import { streamStatements } from "./streams.mjs";
import { errorText, requestOf, textOf } from "./texts.mjs";

const anything = z.looseObject({});
const Result = z.object({ result: z.string() });

/** An error of the program itself. */
export class ProgramError extends Error {
  name = "ProgramError";
}

/**
 * @param {import("./generate.mjs").Program} program
 * @param {import("./world.mjs").World} world
 * @returns the values that the program has seen, and the values that its parts pushed into their shared array, in order
 */
export async function execute(program, world) {
  const frame = new Frame(undefined, "", true);
  world.opens(frame);
  const scope = { world, frame: frame.enter(0, getContext()), log: [], shared: [] };
  try {
    await run(program.body, scope);
    return {
      log: scope.log,
      shared: program.raceFree ? scope.shared.toSorted(byText) : scope.shared,
    };
  } finally {
    // The results of code that runs on after its agent ended do not matter.
    frame.state = "ended";
  }
}

async function run(nodes, scope) {
  for (const node of nodes) await STATEMENTS[node.op](node, scope);
}

const STATEMENTS = {
  call: async (node, scope) => void scope.log.push(await ask(node, scope)),

  async push({ id }, { world, frame, log, shared }) {
    if (frame.closed) return;
    shared.push(`${id}:${digest(log.join())}`);
    world.note(frame, `push ${id}`);
  },

  async memory({ key, write }, { log }) {
    const [value, set] = equipMemory(key, "none");
    log.push(value);
    if (write) set((previous) => digest(`${previous},${log.join()}`));
  },

  async ticks({ count }) {
    for (let tick = 0; tick < count; tick++) await Promise.resolve();
  },

  async throw({ id }, { log }) {
    throw new ProgramError(`thrown at ${id} after ${digest(log.join())}`);
  },

  async prompt(node, scope) {
    const { frame, log } = scope;
    // The model could not tell which generation sends the request.
    if (frame.isPast) return;
    equipInstruction(`prompt ${node.id} ${JSON.stringify(requestOf(node, scope))}`);
    frame.prompt.begin(node, frame);
    for (let index = 0; index < node.tools; index++) equipTool(frame.prompt.tool(index));
    try {
      const { result } = await promptAgent(Result);
      scope.world.receives(frame, addresseeOf(frame), result);
      log.push(result);
    } finally {
      frame.prompt.ends(frame);
    }
  },

  async agent(node, scope) {
    const { world, frame: parent, log } = scope;
    const props = { round: 0, ...requestOf(node, scope) };
    const frame = parent.child(`${node.agentId} ${JSON.stringify(props)}`, node.reborns > 0);
    world.opens(frame);
    frame.prompt = new Prompt(world);
    const handler = async (given) => {
      const inside = { ...scope, frame: frame.enter(given.round, getContext()), log: [JSON.stringify(given)] };
      await run(node.body, inside);
      if (given.round < node.reborns) return reborn({ ...given, round: given.round + 1 });
      return { agent: node.agentId, log: inside.log.slice(1) };
    };
    const { agentId: id } = node;
    try {
      const result = await (node.frame
        ? runFrame({ id, input: props }, handler)
        : createAgent({ id, handler, model: frame.prompt.model })(props));
      world.ends(frame, "completed");
      world.note(parent, `agent ${node.id}`);
      log.push(textOf(result));
    } catch (error) {
      world.ends(frame, "failed");
      world.note(parent, `agent ${node.id} failed`);
      throw error;
    }
  },

  async parallel({ id, how, branches }, scope) {
    const { world, frame, log } = scope;
    const values = await Promise[how](branches.map((body, index) => branch(body, scope, index)));
    world.note(frame, `${how} ${id}`);
    log.push(how === "allSettled" ? values.map(({ status, value }) => `${status} ${value}`).join() : String(values));
  },

  async fan({ call, branches }, scope) {
    const answer = ask(call, scope);
    const after = async (body, index) => {
      const text = await answer;
      return branch(body, { ...scope, log: [...scope.log, text] }, index);
    };
    scope.log.push(String(await Promise.all(branches.map(after))));
  },

  async fork({ body }, scope) {
    branch(body, scope, 0).catch(() => {});
  },

  async retry({ times, body }, scope) {
    for (let attempt = 0; ; attempt++) {
      try {
        return await run(body, scope);
      } catch (error) {
        if (attempt === times || scope.frame.closed) throw error;
        scope.log.push(`again after ${errorText(error)}`);
      }
    }
  },

  async repeat({ times, body }, scope) {
    for (let round = 0; round < times; round++) await run(body, scope);
  },

  async catch({ body, fallback }, scope) {
    try {
      await run(body, scope);
    } catch (error) {
      scope.log.push(`caught ${errorText(error)}`);
      await run(fallback, scope);
    }
  },

  async wrap({ id, body }, scope) {
    try {
      await run(body, scope);
    } catch (cause) {
      throw new ProgramError(`wrapped at ${id}`, { cause });
    }
  },

  async choose({ yes, no }, scope) {
    await run(digest(scope.log.join()).charCodeAt(7) % 2 === 0 ? yes : no, scope);
  },

  ...streamStatements({ run, ask }),
};

/** Runs statements with a separate log and returns the log. */
async function branch(body, scope, index) {
  const log = scope.log.slice();
  await run(body, { ...scope, log });
  return `${index}:${log.slice(scope.log.length).join()}`;
}

/** One journaled call. */
async function ask(node, scope) {
  const { world, frame } = scope;
  const { via, name } = node;
  const request = requestOf(node, scope);
  world.starts(frame);
  const call = frame.occurrence(`${via} ${name} ${JSON.stringify(request)}`);
  const make = ({ signal }) => world.make(frame, call, node, signal);
  try {
    const value = await (via === "tool"
      ? callTool({ name, description: "", parameters: anything, handler: (_input, info) => make(info) }, request)
      : journalCall({ kind: "step", name, request }, make));
    const text = textOf(value);
    world.receives(frame, digest(call.name), text);
    world.note(frame, `call ${node.id}`);
    world.sees(frame, call, true);
    return text;
  } catch (error) {
    if (!frame.closed) world.receives(frame, digest(call.name), errorText(error));
    world.note(frame, `call ${node.id} failed`);
    world.sees(frame, call, false);
    throw error;
  }
}

/** The one prompt of an agent's generation. Its model and tools end when the world says so. */
class Prompt {
  #world;
  #frame;
  #node;
  #calls = [];

  constructor(world) {
    this.#world = world;
  }

  begin(node, frame) {
    this.#node = node;
    this.#frame = frame;
    this.#calls = [];
    this.#world.starts(this.#frame);
  }

  /** The program sees that the prompt has ended, and with it all its calls. */
  ends(frame) {
    if (frame !== this.#frame) return;
    this.#world.note(this.#frame, `prompt ${this.#node.id}`);
    for (const { call, ok } of this.#calls) if (ok !== undefined) this.#world.sees(this.#frame, call, ok);
  }

  async #make(what, spec, signal) {
    const entry = { call: this.#frame.occurrence(what), ok: undefined };
    this.#calls.push(entry);
    try {
      const value = await this.#world.make(this.#frame, entry.call, spec, signal);
      entry.ok = true;
      return value;
    } catch (error) {
      entry.ok = false;
      throw error;
    }
  }

  tool(index) {
    const spec = () => ({ heedsAbort: true, fails: this.#node.toolFails && index === 0 ? -1 : 0, failure: "error" });
    return {
      name: `tool${index}`,
      description: `tool number ${index}`,
      parameters: anything,
      handler: (input, { signal }) => this.#make(`tool ${index} ${JSON.stringify(input)}`, spec(), signal),
    };
  }

  get model() {
    return { id: "simulated", provider: "proof", stream: (messages, { signal }) => this.#stream(messages, signal) };
  }

  async *#stream(messages, signal) {
    const node = this.#node;
    const asked = messages.filter(({ role }) => role === "tool").length;
    const wrong = messages.filter(({ role }) => role === "user").length - 1;
    const spec = { ...node, answer: (content) => content, addressee: addresseeOf(this.#frame) };
    const content = await this.#make(`prompt ${digest(JSON.stringify(messages))}`, spec, signal);
    if (asked < node.tools) {
      for (let index = 0; index < node.tools; index++) {
        yield {
          type: "tool_call",
          toolCall: { index, id: `t${index}`, name: `tool${index}`, arguments: JSON.stringify({ content, index }) },
        };
      }
    } else if (wrong < node.wrongAnswers) yield { type: "text", content: `${content} that is not JSON` };
    else yield { type: "text", content: JSON.stringify({ result: content }) };
    yield { type: "usage", usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5 } };
    yield { type: "finish", finishReason: "stop" };
  }
}

/** The addressee of all answers of an agent's model, because the program cannot name its single turns. */
function addresseeOf(pass) {
  return digest(`${pass.generation} prompt`);
}

/** The default sort order of texts. */
function byText(left, right) {
  return String(left) < String(right) ? -1 : 1;
}
