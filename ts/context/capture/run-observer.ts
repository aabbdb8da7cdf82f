import { currentModelCall, observeModelCalls, type ModelCall } from "../../runtime/call/observers.js";
import type { BoundaryFacts } from "./boundary-types.js";
import { DocumentContent, type RequestContent } from "../request/content.js";
import { JsonText } from "../request/json-text.js";
import { isRecord } from "../../values/members.js";

/** Captures a request before it is sent. Returns a promise if the request has to wait for a callback. */
export type Capture = (content: RequestContent, facts: Partial<BoundaryFacts>) => Promise<void> | undefined;

/** Captures the model calls of runs. */
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

  /** From now on `captureFetch` captures live calls, byte for byte; only replayed calls are captured here. */
  leaveLiveCallsToFetch(): void {
    this.#fetchCaptures = true;
  }

  /** Notes that `captureFetch` captured the request of a call. */
  captured(call: ModelCall): void {
    this.#capturedByFetch.add(call);
  }

  /** Captures a call after the fact if its model did not use the captured fetch, so that no boundary is lost. */
  #after(call: ModelCall): void {
    if (!this.#fetchCaptures || this.#capturedByFetch.has(call)) return;
    this.#report(
      new Error(
        `The model call ${call.callId} did not go through captureFetch, so it was captured only after it was made. ` +
          "Pass the captured fetch to the model's client, or use another manager for this model.",
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
      // A failed capture must not stop the call.
      this.#report(error);
      return undefined;
    }
    return this.#capture(content, { source: "model", ...factsOf(call), model, replayed: call.replayed });
  }
}

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

/** The name of the model in a request: a string, or the `id` of an object. */
export function modelName(parameters: unknown): string | undefined {
  const model = isRecord(parameters) ? parameters["model"] : undefined;
  const name = isRecord(model) ? model["id"] : model;
  return typeof name === "string" ? name : undefined;
}
