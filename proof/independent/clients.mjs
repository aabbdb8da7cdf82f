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
import { outsideOfRuns } from "agent-rewind/integration";
import { z } from "zod";

import { CONTENT, Human } from "./content.mjs";
import { HttpClients } from "./http-clients.mjs";
import { requestOf, unlessStopped } from "./requests.mjs";
import { failureText, isOutside } from "./threads.mjs";
import { show } from "./world.mjs";

/** One program that runs. `w` in the text of a program. */
export class Clients extends HttpClients {
  reborn = reborn;
  stopHandle = getAbortHandle;

  /** A journaled call. `inner` is what it does before it asks the outside. */
  async call(site, what, plan = {}, inner) {
    this.start(site, what, "step");
    try {
      if (this.awaits > 0) await this.prepare();
      return this.saw(site, await this.raw(site, what, plan, inner));
    } catch (error) {
      throw this.failed(site, error);
    }
  }

  /** A call whose promise the program keeps, the package's own, to await it later. */
  early(site, what, plan) {
    this.start(site, what, "step");
    return this.raw(site, what, plan);
  }

  raw(site, what, plan = {}, inner) {
    const call = { kind: plan.kind ?? "step", name: plan.name ?? "model", request: requestOf(what) };
    return this.asksAt(site, () =>
      journalCall(call, (info) => {
        this.world.note("called", site, { text: info.callId });
        const answer = inner === undefined ? this.#answer(site, plan) : this.#inside(site, plan, inner);
        return plan.deaf ? answer : unlessStopped(info.signal, answer);
      }),
    );
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
    this.start(site, what, "tool");
    try {
      if (this.awaits > 0) await this.prepare();
      const handler = (_, { callId, signal }) => {
        this.began(callId, site);
        this.world.note("called", site, { text: callId });
        return unlessStopped(signal, inner === undefined ? this.#answer(site, plan) : this.#inside(site, plan, inner));
      };
      const tool = { name: "look", description: "Looks", parameters: z.any(), handler };
      return this.saw(site, await this.asksAt(site, () => callTool(tool, requestOf(what))));
    } catch (error) {
      throw this.failed(site, error);
    }
  }

  /** A journaled call that is tried again after each failure, and says so. */
  async tries(site, what, plan) {
    this.start(site, what, "step");
    for (let attempt = 0; ; attempt++) {
      const last = attempt === plan.tries.length - 1;
      try {
        if (this.awaits > 0) await this.prepare();
        const call = { kind: "step", name: "model", request: requestOf(what), attempt };
        const ask = () => this.world.ask(site, this.refusals(site, plan, attempt));
        const value = await this.asksAt(site, () => journalCall(call, ask));
        return this.saw(site, value);
      } catch (error) {
        if (last || !isOutside(error)) throw this.failed(site, error);
        await this.world.sleep(plan.pause);
      }
    }
  }

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
    this.start(site, what, "agent");
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
    const handler = async ({ turn, index }, { callId }) => {
      const at = `${site}!${turn}:${index}`;
      this.began(callId, at);
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
      const value = await this.asksAt(site, () => agent(requestOf(what)));
      this.world.note("completed", site);
      return this.saw(site, value);
    } catch (error) {
      this.world.note("rejected", site);
      throw this.failed(site, error);
    }
  }
}
