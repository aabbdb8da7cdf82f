// Clients over HTTP, as applications write them around the fetch of this package.

import { rewindFetch } from "agent-rewind/fetch";

import { unlessStopped } from "./requests.mjs";
import { CONTENT } from "./content.mjs";
import { HttpError, Threads } from "./threads.mjs";
import { describe, WorldError } from "./world.mjs";

export class HttpClients extends Threads {
  async #send(site, what, { path = "v1", attempt, signal, body = JSON.stringify(what) }, answer) {
    if (this.awaits > 0) await this.prepare();
    const fetch = rewindFetch((_url, init) => unlessStopped(init?.signal, answer()));
    const headers = { "content-type": "application/json" };
    if (attempt > 0) headers["x-stainless-retry-count"] = String(attempt);
    return this.asksAt(site, () => fetch(`https://model.example/${path}`, { method: "POST", body, headers, signal }));
  }

  /** A client that tries again after a 429. */
  async http(site, what, plan = {}, signal) {
    this.start(site, what, `http ${plan.body ?? ""}`);
    const tries = plan.tries ?? [plan.ms];
    const body = plan.body === undefined ? undefined : CONTENT[plan.body](JSON.stringify(what));
    try {
      for (let attempt = 0; ; attempt++) {
        const last = attempt === tries.length - 1;
        const response = await this.#send(site, what, { attempt, signal, body }, async () => {
          try {
            const said = await this.world.ask(site, this.refusals(site, { ...plan, tries }, attempt));
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
    const path = `stream/${plan.read ?? "all"}`;
    this.start(site, what, path);
    try {
      const response = await this.#send(site, what, { path }, async () => {
        const breaks = plan.fail === "always" || (plan.fail === "once" && this.world.timesAsked(site) === 0);
        const said = await this.world.ask(site, { ms: plan.ms, final: false });
        const pieces = Array.from({ length: plan.pieces }, (_, index) => `${said}.${index} `);
        const broken = breaks ? new WorldError(`${said} failed`) : undefined;
        this.world.give(site, broken === undefined ? pieces.slice(0, plan.read).join("") : describe(broken));
        return new Response(this.#body(pieces, plan.each, broken), { headers: { "content-type": "text/plain" } });
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

  #body(pieces, each, broken) {
    let index = 0;
    return new ReadableStream(
      {
        pull: async (controller) => {
          if (index > 0) await this.world.sleep(each);
          if (index < pieces.length) controller.enqueue(new TextEncoder().encode(pieces[index++]));
          else if (broken !== undefined) controller.error(broken);
          else controller.close();
        },
      },
      { highWaterMark: 0 },
    );
  }
}
