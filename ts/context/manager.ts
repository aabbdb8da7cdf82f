import { CaptureError } from "../errors/index.js";
import type { BoundaryFacts } from "./capture/boundary-types.js";
import { SnapshotHookData } from "./capture/boundary.js";
import {
  allocate,
  NOTHING_TRACKED,
  type BudgetAllocation,
  type ContextLedger,
  type Segment,
  type Tracked,
} from "./window/ledger.js";
import {
  isThenable,
  SnapshotCallbacks,
  type CallbackOptions,
  type OnCallbackError,
  type SnapshotCallback,
} from "./capture/callbacks.js";
import { capturingFetch, type CaptureFetchOptions, type Fetch } from "./capture/capture-fetch.js";
import { createManagerConfig, type ManagerConfig } from "./window/config.js";
import { contentOf, DocumentContent, type RequestContent } from "./request/content.js";
import { History, type ContextEvent } from "./capture/history.js";
import { JsonText } from "./request/json-text.js";
import { modelLimit, type ModelLimits } from "./window/models.js";
import { Monitor, type Trigger } from "./monitor/monitor.js";
import { processMessages, type ProcessOptions, type ProcessResult } from "./compaction/process.js";
import type { MonitorRedactor } from "./monitor/redactor.js";
import { RunObserver } from "./capture/run-observer.js";
import { resultIds } from "./compaction/units.js";
import { microsecondsNow, utcText } from "./capture/timestamp.js";
import { estimateTokens, type CountTokens } from "./window/tokens.js";

export interface ContextManagerOptions {
  /** Name of the model that calls made by hand go to, and whose limit counts where a request names none. @default "gpt-4o-mini" */
  readonly model?: string;
  readonly config?: Partial<ManagerConfig>;
  readonly sessionId?: string;
  /** Name of the agent that boundaries outside of runs belong to. */
  readonly agentName?: string;
  /** Context windows of models, in tokens, by the beginning of their names: before those that are known. */
  readonly models?: ModelLimits;
  /** Counts the tokens of a text; by default they are estimated. */
  readonly countTokens?: CountTokens;
  /** Takes out of what the monitor writes what must not be there. What is captured stays as it is. */
  readonly redactor?: MonitorRedactor;
  /** Takes the errors of callbacks and of the monitor; by default each is shown once by `console.warn`. */
  readonly onError?: OnCallbackError;
  /**
   * Whether the model calls of runs are captured, as soon as there is a callback or a monitor. @default true
   */
  readonly automatic?: boolean;
  /** How many events `getHistory` keeps. @default 100 */
  readonly historyLimit?: number;
}

/**
 * Captures the exact messages and tools of each request to a model. Its functions need no `this`.
 *
 * With a callback or the monitor it sees the model calls of all runs of the process by itself; with `captureFetch`,
 * those of any client, as they go over the wire.
 */
export class ContextManager {
  readonly model: string;
  readonly config: ManagerConfig;
  readonly sessionId: string;
  readonly agentName: string;
  readonly #options: ContextManagerOptions;
  readonly #callbacks: SnapshotCallbacks;
  readonly #monitor: Monitor;
  readonly #history: History;
  readonly #observer: RunObserver;
  readonly #ledgers = new Map<string, SnapshotHookData>();
  readonly #budgets = new Map<string, BudgetAllocation>();
  #tracked: Tracked = NOTHING_TRACKED;

  /** @throws TypeError, RangeError for wrong options. */
  constructor(options: ContextManagerOptions = {}) {
    const { model = "gpt-4o-mini", config, sessionId = "", agentName = "", historyLimit = 100 } = options;
    for (const [name, value] of Object.entries({ model, sessionId, agentName })) {
      if (typeof value !== "string") throw new TypeError(`ContextManager: options.${name} must be a string`);
    }
    if (!Number.isInteger(historyLimit) || historyLimit < 0) {
      throw new RangeError(`ContextManager: options.historyLimit must be a whole number, 0 or more`);
    }
    this.model = model;
    this.config = createManagerConfig(config);
    this.sessionId = sessionId;
    this.agentName = agentName;
    this.#options = options;
    this.#callbacks = new SnapshotCallbacks(options.onError);
    const report = (error: unknown): void => this.#callbacks.report(error);
    this.#monitor = new Monitor(this.config, agentName, options.redactor, report);
    this.#history = new History(historyLimit);
    this.#observer = new RunObserver((content, facts) => this.#capture(content, facts), report);
    if (this.config.monitorEnabled && options.automatic !== false) this.#observer.start();
  }

  /**
   * Captures messages and tools that are about to be sent, and tells the callbacks. Later changes of the arguments do
   * not reach the snapshot.
   * @throws CaptureError if they cannot be written as JSON, and what a blocking callback throws.
   */
  readonly captureLlmBoundary = (messages: readonly unknown[], tools: readonly unknown[] = []): SnapshotHookData => {
    return this.#captureNow(contentOf(messages, tools), { source: "call" });
  };

  /**
   * Captures a request from its JSON text, as it goes over the wire: here `1.0` is not `1`, and integers have all their
   * digits.
   * @throws RewindError (`ERR_REWIND_INVALID_JSON`) for what is not JSON, CaptureError for what is no object.
   */
  readonly captureRequestText = (jsonText: string | Uint8Array): SnapshotHookData => {
    const bytes = Buffer.from(jsonText as string);
    const content = new DocumentContent(JsonText.ofBytes(bytes, true));
    const { value } = content.parameters;
    if (content.isObject) return this.#captureNow(content, { source: "call", model: modelOf(value) ?? this.model });
    throw new CaptureError("captureRequestText: the text is not that of a request: it must be a JSON object");
  };

  /**
   * Has a callback told of every boundary, before the request leaves. Gives the undoing.
   * @throws TypeError if it is no function.
   */
  readonly registerSnapshotCallback = (callback: SnapshotCallback, options: CallbackOptions = {}): (() => void) => {
    if (typeof callback !== "function") {
      throw new TypeError("registerSnapshotCallback: the callback must be a function");
    }
    const unregister = this.#callbacks.register(callback, options);
    if (this.#options.automatic !== false) this.#observer.start();
    return () => {
      unregister();
      if (this.#callbacks.size === 0 && !this.config.monitorEnabled) this.#observer.stop();
    };
  };

  /**
   * A `fetch` for a client of any OpenAI- or Anthropic-compatible API: every request to a model is captured as it is
   * sent, retries too. From then on a model call in a run is captured where its request leaves, and not before.
   *
   * @param fetch what sends; by default the global one, looked up at each call.
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

  /** Sets the tokens of a segment that is told apart from the messages: a number, or a text to count. */
  readonly track = (segment: Segment, content: string | number): void => {
    if (!(segment in this.#tracked) || segment in UNSETTABLE) {
      throw new TypeError(`track: there is no segment "${segment}"`);
    }
    this.#tracked = { ...this.#tracked, [segment]: this.#count(content) };
  };

  /** Adds the output of a tool to the ledger. */
  readonly trackToolOutput = (output: string | number): void => {
    const { toolOutputs, toolCallCount } = this.#tracked;
    this.#tracked = {
      ...this.#tracked,
      toolOutputs: toolOutputs + this.#count(output),
      toolCallCount: toolCallCount + 1,
    };
  };

  /**
   * Makes messages fit into the budget by the configured strategy, if they fill more of it than `compactThreshold`.
   * Keeps snapshots from before and after, as `snapshotTiming` says; to callbacks it says nothing, because nothing is
   * sent yet.
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
        tracked: this.#tracked,
        snapshot: (list, tracked, timing) =>
          this.#snapshot(contentOf(list, tools), { source: "call", timing }, tracked),
      },
      messages,
      systemPrompt,
    );
    for (const snapshot of [result.pre, result.post]) {
      if (snapshot !== undefined) this.#monitor.see(snapshot, trigger);
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

  /** The latest events, oldest first. */
  readonly getHistory = (): ContextEvent[] => this.#history.events;

  /** The ledger of an agent's latest boundary. @param agentName by default the manager's own. */
  readonly getLedger = (agentName: string = this.agentName): ContextLedger | undefined => {
    return this.#ledgers.get(agentName)?.ledger;
  };

  /**
   * Writes an agent's latest snapshot to its monitor file, whatever the frequency. Gives the path; `undefined` where
   * there is no snapshot yet.
   */
  readonly writeMonitor = (agentName: string = this.agentName): string | undefined => {
    const snapshot = this.#ledgers.get(agentName);
    return snapshot && this.#monitor.write(snapshot);
  };

  /**
   * Until all asynchronous callbacks have come to an end and the monitor's files are written; with `timeout` for so
   * many milliseconds at most.
   * @returns whether all is done.
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

  /** Flushes, and captures no further model calls of runs. */
  readonly close = async (): Promise<void> => {
    this.#observer.stop();
    await this.flush();
  };

  /** For what cannot wait. */
  #captureNow(content: RequestContent, facts: Partial<BoundaryFacts>): SnapshotHookData {
    const { data, told } = this.#boundary(content, facts);
    // A rejection that nobody handles would end the process.
    if (isThenable(told)) told.then(undefined, (error: unknown) => this.#callbacks.report(error));
    return data;
  }

  #capture(content: RequestContent, facts: Partial<BoundaryFacts>): Promise<void> | undefined {
    return this.#boundary(content, facts).told;
  }

  #boundary(
    content: RequestContent,
    facts: Partial<BoundaryFacts>,
  ): { data: SnapshotHookData; told: Promise<void> | undefined } {
    const data = this.#snapshot(content, facts, this.#tracked);
    this.#ledgers.set(data.agentName, data);
    this.#history.add({ kind: "boundary", snapshot: data });
    const told = this.#callbacks.tell(data);
    const see = (): void => this.#see(data);
    return { data, told: told === undefined ? (see(), undefined) : told.then(see) };
  }

  #see(data: SnapshotHookData): void {
    if (!this.config.monitorEnabled) return;
    try {
      this.#monitor.see(data, this.config.monitorFrequency === "tool_call" ? triggerOf(data) : "turn");
    } catch (error) {
      this.#callbacks.report(error);
    }
  }

  #snapshot(content: RequestContent, facts: Partial<BoundaryFacts>, tracked: Tracked): SnapshotHookData {
    const model = facts.model ?? this.model;
    return new SnapshotHookData({
      microseconds: microsecondsNow(),
      content,
      tracked,
      budget: this.#budgetOf(model),
      countTokens: this.#options.countTokens,
      facts: {
        source: "call",
        sessionId: this.sessionId,
        agentName: this.agentName,
        attempt: 1,
        replayed: false,
        ...facts,
        model,
      },
    });
  }

  #budgetOf(model: string): BudgetAllocation {
    let budget = this.#budgets.get(model);
    if (budget === undefined) {
      budget = allocate(modelLimit(model, this.#options.models), this.config.outputReserve);
      this.#budgets.set(model, budget);
    }
    return budget;
  }

  #count(content: string | number): number {
    return typeof content === "number" ? content : (this.#options.countTokens ?? estimateTokens)(content);
  }
}

/** Segments that other functions set. */
const UNSETTABLE = { toolOutputs: true, toolCallCount: true };

function modelOf(parameters: unknown): string | undefined {
  const model = (parameters as { model?: unknown } | null)?.model;
  return typeof model === "string" ? model : undefined;
}

/** Tool results at the end make a boundary theirs. */
function triggerOf({ messages }: SnapshotHookData): Trigger {
  return Array.isArray(messages) && resultIds(messages.at(-1)).length > 0 ? "tool_call" : "turn";
}
