// What a generated program calls: model clients, tools, frames and agents, built on the public API as an application
// builds them. Every function tells the world what the program does and sees there.

import {
  callTool,
  createAgent,
  equipInstruction,
  equipTool,
  getAbortHandle,
  journalCall,
  promptAgent,
  reborn,
  runFrame,
  runWith,
} from "agent-rewind";
import { rewindFetch } from "agent-rewind/fetch";
import { outsideOfRuns } from "agent-rewind/integration";
import { z } from "zod";

import { CONTENT, HIDDEN, Human } from "./content.mjs";
import { describe, show, WorldError } from "./world.mjs";

/** The error of a client for an answer with an error status. */
export class HttpError extends Error {
  name = "HttpError";
  constructor(response, text) {
    super(`${response.status} ${text}`);
    this.status = response.status;
    this.headers = response.headers;
  }
}

/** The failure that the outside gave, also if somebody wrapped it, with its fields. */
export function failureText(error) {
  for (let one = error, depth = 0; one instanceof Error && depth < 6; one = one.cause, depth++) {
    if (one.name === "AbortError") return "AbortError";
    if (isOutside(one)) return describe(one);
  }
  return `${error?.name}: ${error?.message}`;
}

const isOutside = (error) => error instanceof HttpError || /^\S+ failed$/.test(error.message);

/** One program that runs. `w` in the text of a program. */
export class Clients {
  /** Threads of the program that have not ended. */
  #open = 0;
  #waiting = [];
  /** The places at which each error was seen. */
  #origins = new Map();
  reborn = reborn;
  stopHandle = getAbortHandle;

  /**
   * @param {import("./world.mjs").World} world
   * @param {number} awaits how often a client awaits before it reaches the wrapper
   */
  constructor(world, awaits) {
    this.world = world;
    this.awaits = awaits;
  }

  // What the program does besides calls.

  enter() {
    this.#open += 1;
  }

  leave() {
    this.#open -= 1;
    if (this.#open === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when all threads have ended. */
  drained() {
    if (this.#open === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The program handles these failures here. */
  caught(site, ...errors) {
    const origins = errors.flatMap((error) => this.originsOf(error));
    this.world.note("caught", site, { origins });
    return null;
  }

  originsOf(error) {
    if (!(error instanceof Error)) return [];
    const inner = [error.cause, ...(error.errors ?? [])].flatMap((one) => this.originsOf(one));
    return [...(this.#origins.get(error) ?? []), ...inner];
  }

  /** The results of allSettled, whose failures are handled with that. */
  settled(site, results) {
    const failed = results.filter(({ status }) => status === "rejected").map(({ reason }) => reason);
    if (failed.length > 0) this.caught(site, ...failed);
    return results.map(({ value, reason }) => (reason === undefined ? value : failureText(reason)));
  }

  /** An answer as a text, to be part of a later request. */
  tell(value) {
    return show(value);
  }

  sleep(ms) {
    return this.world.sleep(ms);
  }

  saw(site, value) {
    this.world.note("saw", site, { text: show(value) });
    return value;
  }

  failed(site, error) {
    this.world.note("failed", site, { text: failureText(error) });
    if (error instanceof Error) this.#origins.set(error, [...(this.#origins.get(error) ?? []), site]);
    return error;
  }

  #start(site, what) {
    this.world.note("start", site, { text: JSON.stringify(what) });
  }

  async #prepare() {
    for (let round = 0; round < this.awaits; round++) await null;
  }

  // Calls.

  /** A journaled call. `inner` is what it does before it asks the outside. */
  async call(site, what, plan = {}, inner) {
    this.#start(site, what);
    try {
      if (this.awaits > 0) await this.#prepare();
      return this.saw(site, await this.raw(site, what, plan, inner));
    } catch (error) {
      throw this.failed(site, error);
    }
  }

  /** A call whose promise the program keeps, the package's own, to await it later. */
  early(site, what, plan) {
    this.#start(site, what);
    return this.raw(site, what, plan);
  }

  raw(site, what, plan = {}, inner) {
    const call = { kind: plan.kind ?? "step", name: plan.name ?? "model", request: requestOf(what) };
    return journalCall(call, (info) => {
      this.world.note("called", site, { text: info.callId });
      const answer = inner === undefined ? this.#answer(site, plan) : this.#inside(site, plan, inner);
      return plan.deaf ? answer : unlessStopped(info.signal, answer);
    });
  }

  async #inside(site, plan, inner) {
    await inner(`${site}>`);
    return this.#answer(site, plan);
  }

  #answer(site, plan) {
    if (plan.gives === undefined) return this.world.ask(site, plan);
    return this.world.ask(site, { ...plan, final: false }).then((said) => {
      const value = { said, with: plan.gives === "instance" ? new Human("g") : CONTENT[plan.gives]("g") };
      this.world.give(site, show(value));
      return value;
    });
  }

  /** A tool that the program calls itself. */
  async tool(site, what, plan = {}, inner) {
    this.#start(site, what);
    try {
      if (this.awaits > 0) await this.#prepare();
      const handler = (_, { callId, signal }) => {
        this.world.note("called", site, { text: callId });
        return unlessStopped(signal, inner === undefined ? this.#answer(site, plan) : this.#inside(site, plan, inner));
      };
      const tool = { name: "look", description: "Looks", parameters: z.any(), handler };
      return this.saw(site, await callTool(tool, requestOf(what)));
    } catch (error) {
      throw this.failed(site, error);
    }
  }

  /** A journaled call that is tried again after each failure, and says so. */
  async tries(site, what, plan) {
    this.#start(site, what);
    for (let attempt = 0; ; attempt++) {
      const last = attempt === plan.tries.length - 1;
      try {
        if (this.awaits > 0) await this.#prepare();
        const call = { kind: "step", name: "model", request: requestOf(what), attempt };
        const value = await journalCall(call, () => this.world.ask(site, this.#try(site, plan, attempt)));
        return this.saw(site, value);
      } catch (error) {
        if (last || !isOutside(error)) throw this.failed(site, error);
        await this.world.sleep(plan.pause);
      }
    }
  }

  /** The outside refuses the first requests of a call, or all. */
  #try(site, { tries, gives, fail }, attempt) {
    const fails = gives === "up" || this.world.timesAsked(site) < tries.length - 1;
    return {
      ms: tries[attempt],
      fail: fails ? "always" : fail,
      final: !fails || attempt === tries.length - 1,
      attempt,
    };
  }

  // Clients over HTTP.

  async #send(site, what, { attempt, signal, body = JSON.stringify(what) }, answer) {
    if (this.awaits > 0) await this.#prepare();
    const fetch = rewindFetch((_url, init) => unlessStopped(init?.signal, answer()));
    const headers = { "content-type": "application/json" };
    if (attempt > 0) headers["x-stainless-retry-count"] = String(attempt);
    return fetch("https://model.example/v1", { method: "POST", body, headers, signal });
  }

  /** A client that tries again after a 429. */
  async http(site, what, plan = {}, signal = undefined) {
    this.#start(site, what);
    const tries = plan.tries ?? [plan.ms];
    const body = plan.body === undefined ? undefined : CONTENT[plan.body](JSON.stringify(what));
    try {
      for (let attempt = 0; ; attempt++) {
        const last = attempt === tries.length - 1;
        const response = await this.#send(site, what, { attempt, signal, body }, async () => {
          try {
            const said = await this.world.ask(site, this.#try(site, { ...plan, tries }, attempt));
            return Response.json({ said });
          } catch (error) {
            // No answer at all.
            if (plan.net) throw error;
            const text = error.message.replace(" failed", "");
            if (last) this.world.give(site, `HttpError: 429 ${text}; { status: 429 }`);
            return new Response(text, { status: 429, headers: { "content-type": "text/plain" } });
          }
        });
        if (response.ok) return this.saw(site, (await response.json()).said);
        const error = new HttpError(response, await response.text());
        if (last || response.headers.get("x-should-retry") === "false") throw error;
        await this.world.sleep(plan.pause ?? 2);
      }
    } catch (error) {
      throw this.failed(site, error);
    }
  }

  /** A streamed answer, of which the program reads `read` pieces, or all. */
  async stream(site, what, plan) {
    this.#start(site, what);
    try {
      const response = await this.#send(site, what, {}, async () => {
        const said = await this.world.ask(site, { ms: plan.ms, final: false });
        const pieces = Array.from({ length: plan.pieces }, (_, index) => `${said}.${index} `);
        const breaks = plan.fail === "always" ? new WorldError(`${said} failed`) : undefined;
        this.world.give(site, breaks === undefined ? pieces.slice(0, plan.read).join("") : describe(breaks));
        return new Response(this.#body(pieces, plan.each, breaks), { headers: { "content-type": "text/plain" } });
      });
      const decoder = new TextDecoder();
      let text = "";
      for await (const chunk of response.body) {
        text += decoder.decode(chunk, { stream: true });
        if (text.split(" ").length > (plan.read ?? Infinity)) break;
      }
      return this.saw(site, text);
    } catch (error) {
      throw this.failed(site, error);
    }
  }

  #body(pieces, each, breaks) {
    let index = 0;
    return new ReadableStream(
      {
        pull: async (controller) => {
          if (index > 0) await this.world.sleep(each);
          if (index < pieces.length) controller.enqueue(new TextEncoder().encode(pieces[index++]));
          else if (breaks !== undefined) controller.error(breaks);
          else controller.close();
        },
      },
      { highWaterMark: 0 },
    );
  }

  // Frames and runs.

  async frame(site, { id, input, signal }, fn) {
    this.world.note("frame", site, { text: JSON.stringify([id, input]) });
    try {
      const value = await runFrame({ id, input: requestOf(input), signal }, (given) => fn(given, `${site}@${given.g}`));
      this.world.note("completed", site);
      return value;
    } catch (error) {
      this.world.note("rejected", site);
      throw error;
    }
  }

  /** A run of its own inside a journaled call. */
  async nested(site, what, plan, inner) {
    return this.call(site, what, plan, () =>
      outsideOfRuns(() => runWith(() => inner(`${site}%`), { enableSnapshot: true })),
    );
  }

  /** An agent that prompts a model. `plan.turns` lists the tools that the model calls in each turn. */
  async agent(site, what, plan, inner) {
    this.#start(site, what);
    const { turns = [], ms, fail } = plan;
    const world = this.world;
    const results = new Map();
    const model = {
      id: "fake",
      async *stream(messages) {
        const turn = messages.filter(({ role }) => role === "assistant").length;
        if (turn > 0) {
          // The answer before and its tools have ended, because the agent goes on.
          world.note("saw", `${site}!${turn - 1}`, { text: "" });
          for (const [at, outcome] of results) world.note(outcome.kind, at, { text: outcome.text });
          results.clear();
        }
        const said = await world.ask(`${site}!${turn}`, { ms, ...(turn === turns.length && { fail, as: site }) });
        if (turn < turns.length) {
          for (const [index, tool] of turns[turn].entries()) {
            const input = JSON.stringify({ turn, index, ask: tool.says === "answer" ? said : tool.says });
            yield { type: "tool_call", toolCall: { index, id: `c${turn}${index}`, name: "help", arguments: input } };
          }
        } else yield { type: "text", content: JSON.stringify({ said }) };
        yield { type: "finish", finishReason: turn < turns.length ? "tool_calls" : "stop" };
      },
    };
    const handler = async ({ turn, index }) => {
      const at = `${site}!${turn}:${index}`;
      const tool = turns[turn][index];
      try {
        if (tool.inner) await inner(`${at}>`);
        const value = await world.ask(at, tool);
        results.set(at, { kind: "saw", text: value });
        return value;
      } catch (error) {
        results.set(at, { kind: "failed", text: failureText(error) });
        throw error;
      }
    };
    const parameters = z.object({ turn: z.number(), index: z.number(), ask: z.string() });
    const agent = createAgent({
      id: plan.id ?? "agent",
      model,
      handler: async () => {
        equipInstruction(JSON.stringify(what));
        if (turns.length > 0) equipTool({ name: "help", description: "Helps", parameters, handler });
        return (await promptAgent(z.object({ said: z.string() }))).said;
      },
    });
    this.world.note("frame", site, {});
    try {
      const value = await agent(requestOf(what));
      this.world.note("completed", site);
      return this.saw(site, value);
    } catch (error) {
      this.world.note("rejected", site);
      throw this.failed(site, error);
    }
  }
}

/** An answer, or the failure of a client that is stopped before. */
async function unlessStopped(signal, answer) {
  if (signal === undefined || signal === null) return answer;
  let stop;
  const stopped = new Promise((_, reject) => {
    stop = () => reject(new DOMException("This operation was aborted", "AbortError"));
  });
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([answer, stopped]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The request that a program describes by plain data. */
function requestOf({ with: content, ...rest }) {
  if (content === undefined) return rest;
  const [kind, letter] = content;
  return { ...rest, with: { ...CONTENT, ...HIDDEN }[kind](letter) };
}
