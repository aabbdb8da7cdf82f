// Requests by a recorded fetch whose responses are delivered before their ends.

import { rewindFetch } from "agent-rewind/fetch";

import { digest } from "../lib/random.mjs";
import { requestOf, errorText } from "./texts.mjs";
import { failureOf, StepError } from "./world.mjs";

/**
 * @param {object} parts the executor of the other statements of the program
 * @param {(nodes: import("./generate.mjs").Node[], scope: object) => Promise<void>} parts.run
 * @param {(node: object, scope: object) => Promise<string>} parts.ask
 */
export function streamStatements({ run, ask }) {
  /**
   * Only heads and ends of bodies have positions in the recorded order. The effects of pieces and aborts are ordered
   * again after the next call.
   */
  const inPlace = ({ call, node: { id } }, scope, name = "after") =>
    ask({ id, via: "journal", name, reads: [], after: digest(call.name), heedsAbort: true }, scope);

  const USES = {
    async whole(sent) {
      return (await sent.head()).read();
    },

    async later(sent, { body, pushed }, scope) {
      const got = await sent.head();
      await run(body, scope);
      if (!pushed) return got.read();
      // The body may have arrived completely by now.
      try {
        return await got.read();
      } finally {
        await inPlace(sent, scope);
      }
    },

    async part(sent, { count }) {
      return (await sent.head()).readPart(count);
    },

    async never(sent) {
      return (await sent.head()).leave();
    },

    async abort(sent, { body, when, reason }, scope) {
      const got = when === "head" ? undefined : await sent.head();
      await run(body, scope);
      // Starts and ends at the moment of the abort have no observable order.
      await inPlace(sent, scope, "before");
      sent.abort(reason);
      const text = await sent.readAborted(got);
      await inPlace(sent, scope);
      return text;
    },
  };

  return {
    async stream(node, scope) {
      const sent = new Sent(node, scope);
      scope.log.push(await USES[node.use](sent, node, scope));
    },

    /** Several parallel requests. The first answered one is read. */
    async contest({ id, how, losers, waits, streams, body }, scope) {
      const { world, frame, log } = scope;
      const all = streams.map((node) => new Sent(node, scope));
      let first;
      try {
        first = await Promise[how](all.map(async (sent, index) => ({ got: await sent.quietHead(), index })));
      } catch (error) {
        world.note(frame, `contest ${id} failed`);
        throw error;
      }
      world.note(frame, `contest ${id} won by ${first.index}`);
      log.push(`won by ${first.index}`);
      const lost = all.filter((_, index) => index !== first.index);
      const gone = Promise.all(lost.map((sent) => sent.lose(losers)));
      if (waits) await gone;
      await inPlace(all[0], scope);
      await run(body, scope);
      try {
        log.push(await first.got.read());
      } finally {
        await inPlace(all[1], scope);
      }
      if (waits) for (const sent of lost) sent.isLost();
    },
  };
}

/** A request that was sent. */
class Sent {
  node;
  call;
  scope;
  #aborter = new AbortController();
  #response;
  /** As a loser: true if it was answered without an error. */
  #lost;

  constructor(node, scope) {
    const { world, frame } = scope;
    this.node = node;
    this.scope = scope;
    const request = requestOf(node, scope);
    world.starts(frame);
    this.call = frame.occurrence(`fetch ${node.name} ${JSON.stringify(request)}`);
    const fetch = rewindFetch(async (_input, { signal }) => answerOf(world, frame, this.call, node, signal));
    const { signal } = this.#aborter;
    const body = JSON.stringify(request);
    this.#response = fetch(`http://proof.test/${node.name}`, { method: "POST", body, signal });
    // It may be read later or never.
    this.#response.catch(() => {});
  }

  get addressee() {
    return digest(this.call.name);
  }

  async head() {
    const { world, frame } = this.scope;
    try {
      const got = await this.quietHead();
      world.note(frame, `head ${this.node.id}`);
      return got;
    } catch (error) {
      if (!frame.closed) world.receives(frame, this.addressee, errorText(error));
      this.ends("failed", false);
      throw error;
    }
  }

  /** Without a position in the order of the program's observations. */
  async quietHead() {
    const response = await this.#response;
    this.scope.world.receives(this.scope.frame, this.addressee, response.statusText);
    return new Got(this, response);
  }

  abort(reason) {
    this.#aborter.abort(reason === undefined ? undefined : new StepError(reason));
  }

  /** The rest of the response after an abort. */
  async readAborted(got) {
    const { world, frame } = this.scope;
    try {
      const text = await (got ?? (await this.quietHead())).text();
      world.sees(frame, this.call, true);
      return `got ${text}`;
    } catch (error) {
      world.sees(frame, this.call, false);
      // A DOMException is restored as an Error with its name, without its code.
      return `aborted: ${error.name} ${error.message}`;
    }
  }

  async lose(how) {
    if (how === "abort") this.abort();
    try {
      const { response } = await this.quietHead();
      this.#lost = response.status < 400;
      if (how === "cancel") await response.body?.cancel();
    } catch {
      this.#lost = false;
    }
  }

  isLost() {
    this.scope.world.sees(this.scope.frame, this.call, this.#lost);
  }

  /** The program sees that the request has ended. */
  ends(how, ok = true) {
    const { world, frame } = this.scope;
    world.note(frame, `fetch ${this.node.id} ${how}`);
    world.sees(frame, this.call, ok);
  }
}

/** A response whose head has arrived. */
class Got {
  response;
  #sent;

  constructor(sent, response) {
    this.#sent = sent;
    this.response = response;
  }

  async text() {
    const { response } = this;
    const { how } = this.#sent.node;
    if (how === "json" && response.status !== 204) return JSON.stringify(await response.json());
    if (how === "text" || response.body === null) return response.text();
    const chunks = [];
    for await (const chunk of response.body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  async read() {
    const { scope, addressee } = this.#sent;
    let text;
    try {
      text = await this.text();
    } catch (error) {
      this.#sent.ends("failed", false);
      throw error;
    }
    if (text !== "") scope.world.receives(scope.frame, addressee, text);
    return this.#checked("read", text);
  }

  async readPart(count) {
    const chunks = [];
    try {
      if (this.response.body !== null) {
        const reader = this.response.body.getReader();
        for (let at = 0; at < count; at++) {
          const { done, value } = await reader.read();
          if (done) break;
          chunks.push(value);
        }
        await reader.cancel();
      }
    } catch (error) {
      this.#sent.ends("failed", false);
      throw error;
    }
    return this.#checked("cancelled", `${chunks.length} of ${Buffer.concat(chunks).toString()}`);
  }

  leave() {
    return this.#checked("left", "");
  }

  #checked(how, text) {
    const { status, statusText } = this.response;
    this.#sent.ends(how, status < 400);
    if (status >= 400) throw new StepError(`${status} ${statusText}: ${text}`);
    return `${status} ${statusText}: ${text}`;
  }
}

/** The response of the simulated world: first its head, then each piece of its body. */
async function answerOf(world, frame, call, node, signal) {
  const { shape, chunks, failure } = node;
  const spec = { ...node, heedsAbort: true, answer: (content, failing) => ({ content, failing }) };
  signal.throwIfAborted();
  const { content, failing } = await world.make(frame, call, spec, signal);
  const status = failing && failure === "status" ? 503 : 200;
  if (shape === "none" && status === 200) return new Response(null, { status: 204, statusText: content });
  const pieces = cut(bodyOf(shape, content), chunks);
  const fault = failing && failure === "body" ? failureOf("coded", content) : undefined;
  if (fault !== undefined) pieces.pop();
  return new Response(streamOf(world, pieces, { fault, signal, pushed: node.pushed }), { status, statusText: content });
}

function bodyOf(shape, content) {
  if (shape === "json")
    return JSON.stringify({ content, list: [1, null, { deep: true }], text: "\u2028 \ud83d\ude00" });
  return shape === "text" ? `${content} \ud83d\ude00 {` : "";
}

function cut(text, count) {
  const bytes = Buffer.from(text);
  const size = Math.ceil(bytes.length / count);
  const pieces = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(new Uint8Array(bytes.subarray(at, at + size)));
  return pieces;
}

/** @param pushed true if the pieces come by themselves, and not each on request. */
function streamOf(world, pieces, { fault, signal, pushed }) {
  let over = false;
  const next = async (controller) => {
    await world.comes();
    if (over) return;
    const piece = pieces.shift();
    if (piece !== undefined) return controller.enqueue(piece);
    over = true;
    if (fault === undefined) controller.close();
    else controller.error(fault);
  };
  const abort = (controller) => {
    over = true;
    controller.error(signal.reason);
  };
  return new ReadableStream(
    {
      start(controller) {
        if (signal.aborted) return abort(controller);
        signal.addEventListener("abort", () => abort(controller));
        if (pushed) void pushAll(controller);
      },
      pull: (controller) => (pushed ? undefined : next(controller)),
      cancel: () => void (over = true),
    },
    { highWaterMark: 0 },
  );

  async function pushAll(controller) {
    await next(controller);
    if (!over) await pushAll(controller);
  }
}
