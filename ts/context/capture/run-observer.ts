// Sees the model calls of runs.

import { currentModelCall, observeModelCalls, type ModelCall } from "../../runtime/call/observers.js";
import type { BoundaryFacts } from "./boundary-types.js";
import { DocumentContent, type RequestContent } from "../request/content.js";
import { isObject, JsonText } from "../request/json-text.js";

/** Takes what is about to be sent; gives a promise where the request has to wait. */
export type Capture = (content: RequestContent, facts: Partial<BoundaryFacts>) => Promise<void> | undefined;

export class RunObserver {
  readonly #capture: Capture;
  readonly #report: (error: unknown) => void;
  readonly #capturedByFetch = new WeakSet<ModelCall>();
  #fetchCaptures = false;
  #stop: (() => void) | undefined;

  constructor(capture: Capture, report: (error: unknown) => void) {
    this.#capture = capture;
    this.#report = report;
  }

  start(): void {
    this.#stop ??= observeModelCalls({
      before: (call) => (call.replayed || !this.#fetchCaptures ? this.#captureCall(call) : undefined),
      after: (call) => this.#after(call),
    });
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** What is made is captured where it leaves, byte for byte; what is replayed, here. */
  leaveLiveCallsToFetch(): void {
    this.#fetchCaptures = true;
  }

  /** The request of a call has been captured where it left. */
  captured(call: ModelCall): void {
    this.#capturedByFetch.add(call);
  }

  /** A boundary is not lost because its model goes past the captured fetch. */
  #after(call: ModelCall): void {
    if (!this.#fetchCaptures || this.#capturedByFetch.has(call)) return;
    this.#report(
      new Error(
        `The model call ${call.callId} did not go through captureFetch: it was captured after it was made. ` +
          "Give the model's client the captured fetch, or have another manager for this model.",
      ),
    );
    void this.#captureCall(call)?.catch(this.#report);
  }

  #captureCall(call: ModelCall): Promise<void> | undefined {
    let content: RequestContent;
    let model: string;
    try {
      const document = new DocumentContent(JsonText.ofStringified(call.document()));
      model = call.kind === "prompt" ? call.name : (modelName(document.parameters.value) ?? call.name);
      content = document;
    } catch (error) {
      // What cannot be captured is not captured; the call is made all the same.
      this.#report(error);
      return undefined;
    }
    return this.#capture(content, { source: "model", ...factsOf(call), model, replayed: call.replayed });
  }
}

/** Where in a run the code stands. */
export function currentFacts(): { call: ModelCall | undefined; facts: Partial<BoundaryFacts> } {
  const call = currentModelCall();
  return { call, facts: call === undefined ? {} : factsOf(call) };
}

function factsOf(call: ModelCall): Partial<BoundaryFacts> {
  return {
    callId: call.callId,
    traceId: call.traceId,
    spanId: call.spanId,
    journalHash: call.contentHash,
    ...(call.agentId === "" ? {} : { agentName: call.agentId }),
  };
}

/** Of a request: a model is named by a string, or by an object with an id. */
export function modelName(parameters: unknown): string | undefined {
  const model = isObject(parameters) ? parameters["model"] : undefined;
  const name = isObject(model) ? model["id"] : model;
  return typeof name === "string" ? name : undefined;
}
