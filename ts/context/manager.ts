import { CaptureError } from "../errors/index.js";
import { isThenable } from "../values/thenable.js";
import type { BoundaryFacts } from "./capture/boundary-types.js";
import { BoundaryCapture } from "./capture/boundary.js";
import type { ContextLedger, Segment } from "./window/ledger.js";
import { CaptureFactory } from "./capture/factory.js";
import { TrackedTokens } from "./window/tracked.js";
import { checkManagerOptions, type ContextManagerOptions } from "./options.js";
import { CaptureCallbacks, type CallbackOptions, type CaptureCallback } from "./capture/callbacks.js";
import { capturingFetch, type CaptureFetchOptions, type Fetch } from "./capture/capture-fetch.js";
import { createManagerConfig, type ManagerConfig } from "./window/config.js";
import { contentOf, DocumentContent, type RequestContent } from "./request/content.js";
import { History, type ContextEvent } from "./capture/history.js";
import { JsonText } from "./request/json-text.js";
import { Monitor, type Trigger } from "./monitor/monitor.js";
import { processMessages, type ProcessOptions, type ProcessResult } from "./compaction/process.js";
import { RunObserver } from "./capture/run-observer.js";
import { resultIds } from "./compaction/units.js";
import { microsecondsNow, utcText } from "./capture/timestamp.js";

/**
 * Captures the exact messages and tools of each request to a model. Its functions need no `this`.
 *
 * With a callback or the monitor, it captures the model calls of all runs in the process. With `captureFetch`, it
 * captures the requests of any client as they are sent.
 */
export class ContextManager {
  readonly model: string;
  readonly config: ManagerConfig;
  readonly sessionId: string;
  readonly agentName: string;
  readonly #options: ContextManagerOptions;
  readonly #callbacks: CaptureCallbacks;
  readonly #monitor: Monitor;
  readonly #history: History;
  readonly #observer: RunObserver;
  readonly #factory: CaptureFactory;
  readonly #tracked: TrackedTokens;
  readonly #latest = new Map<string, BoundaryCapture>();

  /** @throws TypeError, RangeError for invalid options. */
  constructor(options: ContextManagerOptions = {}) {
    checkManagerOptions(options);
    const {
      model = "gpt-4o-mini",
      config,
      models,
      countTokens,
      sessionId = "",
      agentName = "",
      historyLimit = 100,
    } = options;
    this.model = model;
    this.config = createManagerConfig(config);
    this.sessionId = sessionId;
    this.agentName = agentName;
    this.#options = options;
    this.#tracked = new TrackedTokens(countTokens);
    const { outputReserve } = this.config;
    this.#factory = new CaptureFactory({ sessionId, agentName, model }, { outputReserve, models, countTokens });
    this.#callbacks = new CaptureCallbacks(options.onError);
    const report = (error: unknown): void => this.#callbacks.report(error);
    this.#monitor = new Monitor(this.config, agentName, options.redactor, report);
    this.#history = new History(historyLimit);
    this.#observer = new RunObserver((content, facts) => this.#capture(content, facts), report);
    if (this.config.monitorEnabled && options.automatic !== false) this.#observer.start();
  }

  /**
   * Captures messages and tools that are about to be sent, and calls the callbacks. Later changes of the arguments do
   * not affect the capture.
   * @throws CaptureError if they cannot be written as JSON. Errors of blocking callbacks.
   */
  readonly captureLlmBoundary = (messages: readonly unknown[], tools: readonly unknown[] = []): BoundaryCapture => {
    return this.#captureNow(contentOf(messages, tools), { source: "call" });
  };

  /**
   * Captures a request from its JSON text as it is sent. Number tokens count: `1.0` is not `1`, and large integers keep
   * all digits.
   * @throws RewindError (`ERR_REWIND_INVALID_JSON`) if the text is not JSON, CaptureError if it is not an object.
   */
  readonly captureRequestText = (jsonText: string | Uint8Array): BoundaryCapture => {
    const bytes = Buffer.from(jsonText as string);
    const content = new DocumentContent(JsonText.ofBytes(bytes, true));
    const { value } = content.parameters;
    if (content.isObject) return this.#captureNow(content, { source: "call", model: modelOf(value) ?? this.model });
    throw new CaptureError("captureRequestText: the text must be a JSON object");
  };

  /**
   * Calls a callback at every boundary, before the request is sent. Returns a function that unregisters it.
   * @throws TypeError if the callback is not a function.
   */
  readonly registerCaptureCallback = (callback: CaptureCallback, options: CallbackOptions = {}): (() => void) => {
    if (typeof callback !== "function") {
      throw new TypeError("registerCaptureCallback: the callback must be a function");
    }
    const unregister = this.#callbacks.register(callback, options);
    if (this.#options.automatic !== false) this.#observer.start();
    return () => {
      unregister();
      if (this.#callbacks.size === 0 && !this.config.monitorEnabled) this.#observer.stop();
    };
  };

  /** @deprecated Use {@link ContextManager.registerCaptureCallback}. */
  readonly registerSnapshotCallback: ContextManager["registerCaptureCallback"] = this.registerCaptureCallback;

  /**
   * Returns a `fetch` for clients of OpenAI- or Anthropic-compatible APIs. It captures every request to a model as it is
   * sent, including retries. From then on, live model calls of runs are captured by this fetch only.
   *
   * @param fetch sends the requests. Default: the global `fetch`, looked up at each call.
   */
  readonly captureFetch = (fetch?: Fetch, options: CaptureFetchOptions = {}): Fetch => {
    this.#observer.leaveLiveCallsToFetch();
    return capturingFetch(
      {
        capture: (content, facts) => this.#capture(content, facts),
        captured: (call) => this.#observer.captured(call),
        report: (error) => this.#callbacks.report(error),
      },
      fetch,
      options,
    );
  };

  /** Sets the tokens of a segment that is not part of the messages: a number, or a text to count. */
  readonly track = (segment: Segment, content: string | number): void => {
    this.#tracked.set(segment, content);
  };

  /** Adds the output of a tool to the ledger. */
  readonly trackToolOutput = (output: string | number): void => {
    this.#tracked.addToolOutput(output);
  };

  /**
   * Makes messages fit into the budget with the configured strategy, if they use at least `compactThreshold` of it.
   * `snapshotTiming` selects the captures in the result. Callbacks are not called, because nothing is sent yet.
   * @throws CaptureError if the messages cannot be written as JSON.
   */
  readonly process = <Message>(
    messages: readonly Message[],
    { systemPrompt = "", tools = [], trigger = "turn" }: ProcessOptions = {},
  ): ProcessResult<Message> => {
    if (!Array.isArray(messages)) throw new TypeError("process: messages must be an array");
    const result = processMessages(
      {
        config: this.config,
        countTokens: this.#options.countTokens,
        tracked: this.#tracked.counts,
        capture: (list, tracked, timing) => this.#factory.create(contentOf(list, tools), { timing }, tracked),
      },
      messages,
      systemPrompt,
    );
    for (const data of [result.pre, result.post]) {
      if (data !== undefined) this.#monitor.observe(data, trigger);
    }
    if (result.optimized) {
      this.#history.add({
        kind: "optimization",
        timestamp: utcText(microsecondsNow()),
        agentName: this.agentName,
        strategy: result.strategy,
        tokensBefore: result.tokensBefore,
        tokensAfter: result.tokensAfter,
        messagesBefore: messages.length,
        messagesAfter: result.messages.length,
      });
    }
    return result;
  };

  /** Returns the latest events, oldest first. */
  readonly getHistory = (): ContextEvent[] => this.#history.events;

  /** Returns the ledger of an agent's latest boundary. @param agentName default: the name of the manager's agent. */
  readonly getLedger = (agentName: string = this.agentName): ContextLedger | undefined => {
    return this.#latest.get(agentName)?.ledger;
  };

  /**
   * Writes an agent's latest capture to its monitor file, regardless of the frequency. Returns the path, or `undefined`
   * if there is no capture yet.
   */
  readonly writeMonitor = (agentName: string = this.agentName): string | undefined => {
    const data = this.#latest.get(agentName);
    return data && this.#monitor.write(data);
  };

  /**
   * Waits until all asynchronous callbacks have finished and the monitor files are written.
   * @param timeout maximum time to wait, in milliseconds.
   * @returns false if the timeout passed first.
   */
  readonly flush = async ({ timeout }: { timeout?: number } = {}): Promise<boolean> => {
    const idle = Promise.all([this.#callbacks.idle(), this.#monitor.idle()]).then(() => true);
    if (timeout === undefined) return idle;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), timeout);
    });
    return Promise.race([idle, late]).finally(() => clearTimeout(timer));
  };

  /** Stops capturing the model calls of runs, and flushes. */
  readonly close = async (): Promise<void> => {
    this.#observer.stop();
    await this.flush();
  };

  /** Captures without waiting for asynchronous callbacks. */
  #captureNow(content: RequestContent, facts: Partial<BoundaryFacts>): BoundaryCapture {
    const { data, waiting } = this.#boundary(content, facts);
    // An unhandled rejection would end the process.
    if (isThenable(waiting)) waiting.then(undefined, (error: unknown) => this.#callbacks.report(error));
    return data;
  }

  #capture(content: RequestContent, facts: Partial<BoundaryFacts>): Promise<void> | undefined {
    return this.#boundary(content, facts).waiting;
  }

  #boundary(
    content: RequestContent,
    facts: Partial<BoundaryFacts>,
  ): { data: BoundaryCapture; waiting: Promise<void> | undefined } {
    const data = this.#factory.create(content, facts, this.#tracked.counts);
    this.#latest.set(data.agentName, data);
    this.#history.add({ kind: "boundary", snapshot: data });
    const waiting = this.#callbacks.notify(data);
    const observe = (): void => this.#observe(data);
    return { data, waiting: waiting === undefined ? (observe(), undefined) : waiting.then(observe) };
  }

  #observe(data: BoundaryCapture): void {
    if (!this.config.monitorEnabled) return;
    try {
      this.#monitor.observe(data, this.config.monitorFrequency === "tool_call" ? triggerOf(data) : "turn");
    } catch (error) {
      this.#callbacks.report(error);
    }
  }
}

function modelOf(parameters: unknown): string | undefined {
  const model = (parameters as { model?: unknown } | null)?.model;
  return typeof model === "string" ? model : undefined;
}

/** Tool results at the end of the messages are the reason for a boundary. */
function triggerOf({ messages }: BoundaryCapture): Trigger {
  return Array.isArray(messages) && resultIds(messages.at(-1)).length > 0 ? "tool_call" : "turn";
}
