import { Context, getContext } from "../run-context/context.js";
import { storage } from "../run-context/store.js";
import { NestedRunError, SnapshotDisabledError } from "../errors/index.js";
import { EVENTS } from "../events/names.js";
import { calling, native, type FrameHandle } from "../native.js";
import { openSnapshot, type OpenSnapshot } from "../snapshot/open.js";
import type { Miss } from "../types/miss.js";
import type { ModelAdapter } from "../types/model.js";
import type { ReplayReport } from "../types/report.js";
import type { AgentSnapshot } from "../types/snapshot.js";
import { decodeValue } from "../values/decode.js";
import { encodeMarked, encodeValue } from "../values/encode.js";
import { errorInfoText, toErrorInfo } from "../values/error-info.js";
import { budgetOf } from "./budget.js";
import { Redaction } from "../redact/redaction.js";
import { redactorOf, type Redactor } from "../redact/redactor.js";
import type { RedactOptions } from "../redact/rules.js";
import { isDevelopment, isProduction } from "./environment.js";
import { DEFAULT_MAX_DEPTH, frameStart } from "./frame.js";
import { newSpanId } from "./ids.js";
import { Normalizer, type NormalizeRule } from "./normalize.js";
import { encodedFields } from "./output-fields.js";
import { reportData } from "./replay-report.js";
import { RunState, type EventSink, type SpanRef } from "./run-state.js";
import { DEFAULT_SETTINGS, Scope } from "./scope.js";

export interface RunWithOptions<Props = unknown> {
  /** Given to the function. */
  initialProps?: Props;
  /** Replays from this snapshot: what had finished is not called again. */
  snapshot?: AgentSnapshot;
  /** Whether the run is journaled and can be dumped. Default: whether NODE_ENV is "development" or "test". */
  enableSnapshot?: boolean;
  /** Takes the run's events, instead of the global bus. */
  eventBus?: EventSink;
  /** The model of agents that have none of their own. */
  model?: ModelAdapter;
  /** Models by the names that agents give. */
  modelRegistry?: Record<string, ModelAdapter>;
  /** Joins the run to a trace. */
  trace?: { traceId?: string; parentSpanId?: string; attributes?: Record<string, unknown> };
  /** Aborts the run's agents. */
  signal?: AbortSignal;
  /** How deep agents may call agents, at most 999. Default 50. */
  maxDepth?: number;
  /**
   * What the snapshot is used for. "resume" (default with a snapshot): what it holds is replayed, the rest is
   * made. "replay": nothing is made; a call that the snapshot has no answer for is a ReplayMissError. "live"
   * (default without one): everything is made, and a snapshot is not looked at.
   */
  mode?: "live" | "resume" | "replay";
  /** With "resume": decides for each call that the snapshot has no answer for. */
  onMiss?: (miss: Miss) => "live" | "error";
  /** What is done with sub-agents that had ended: "rerun" runs their handlers against the recording, so that
   * changed code takes effect; "reuse" takes their recorded result. Default "rerun". */
  completedFrames?: "rerun" | "reuse";
  /** Takes the report of what was replayed and what was made, when the run has ended. */
  onReport?: (report: ReplayReport) => void;
  /** What is left out of the hashes of requests and props: ids and times that change from run to run. A snapshot that
   * was recorded under other rules is hashed anew, where it keeps what was asked. */
  normalize?: readonly NormalizeRule[];
  /** Replaces secrets in all that is recorded: requests, outputs, failures, memory, events. What the agent sees, and
   * what is sent, stays as it is. `true` for what is known by itself; options for rules and a key of one's own. A
   * snapshot that was recorded under other rules is refused. */
  redact?: boolean | RedactOptions | Redactor;
  /** Whether what was asked is kept in snapshots, for explaining a miss. Default true. */
  requests?: boolean;
  /** What is done with recorded failures: "auto" makes the calls again whose failure ended the run and
   * replays those that were handled. Default "auto". */
  failures?: "auto" | "replay" | "retry";
  /** Which memory frames get back: "auto" is that of the start where there are calls to replay, else the
   * dumped one; "dump" is always the dumped one. Default "auto", with mode "replay" "start". */
  memory?: "auto" | "start" | "dump";
}

/** As deep as a snapshot can hold frames, the root's included. */
const MAX_FRAMES_DEEP = 999;

const CHOICES: { readonly [Name in "mode" | "completedFrames" | "failures" | "memory"]: readonly string[] } = {
  mode: ["live", "resume", "replay"],
  completedFrames: ["rerun", "reuse"],
  failures: ["auto", "replay", "retry"],
  memory: ["auto", "start", "dump"],
};

function checkModes(options: RunWithOptions): void {
  for (const [name, choices] of Object.entries(CHOICES)) {
    const value = options[name as keyof typeof CHOICES];
    if (value !== undefined && !choices.includes(value)) {
      const list = choices.map((choice) => `"${choice}"`).join(", ");
      throw new TypeError(`runWith: options.${name} must be one of ${list}, received ${JSON.stringify(value)}`);
    }
  }
  const { maxDepth } = options;
  if (maxDepth !== undefined && !(Number.isInteger(maxDepth) && maxDepth >= 1 && maxDepth <= MAX_FRAMES_DEEP)) {
    throw new RangeError(
      `runWith: options.maxDepth must be a whole number from 1 to ${MAX_FRAMES_DEEP}, received ${String(maxDepth)}`,
    );
  }
  const { mode, snapshot, onMiss, eventBus } = options;
  for (const name of ["onMiss", "onReport"] as const) {
    if (options[name] !== undefined && typeof options[name] !== "function") {
      throw new TypeError(`runWith: options.${name} must be a function, received ${typeof options[name]}`);
    }
  }
  for (const name of ["enableSnapshot", "requests"] as const) {
    if (options[name] !== undefined && typeof options[name] !== "boolean") {
      throw new TypeError(`runWith: options.${name} must be true or false, received ${typeof options[name]}`);
    }
  }
  if (options.normalize !== undefined && !Array.isArray(options.normalize)) {
    throw new TypeError("runWith: options.normalize must be an array of rules");
  }
  if (options.signal !== undefined && typeof (options.signal as Partial<AbortSignal> | null)?.aborted !== "boolean") {
    throw new TypeError("runWith: options.signal must be an AbortSignal");
  }
  if (eventBus !== undefined && typeof (eventBus as Partial<EventSink> | null)?.emit !== "function") {
    throw new TypeError("runWith: options.eventBus must be an object with a method emit");
  }
  if ((mode === "replay" || mode === "resume") && snapshot == null) {
    throw new TypeError(`runWith: options.mode "${mode}" needs options.snapshot`);
  }
  if (onMiss !== undefined && mode !== undefined && mode !== "resume") {
    throw new TypeError(
      `runWith: options.onMiss goes with options.mode "resume"; with "${mode}" there is nothing to decide`,
    );
  }
}

/**
 * Runs a function as the root of a run: recorded, and replayed from a snapshot if one is given.
 *
 * @throws NestedRunError inside a run or an agent.
 * @throws SnapshotDisabledError for a snapshot in production without `enableSnapshot: true`.
 * @throws InvalidSnapshotError with all faults of a snapshot; nothing has run then.
 * @throws NormalizeError for a snapshot that was recorded under other rules and does not keep what was asked.
 * @throws RedactError for a snapshot that was redacted by other rules, or by none, and for a rule that is not supported.
 * @throws whatever the function throws.
 */
export function runWith<Props, Result>(
  fn: (props: Props) => Promise<Result> | Result,
  options?: RunWithOptions<Props>,
): Promise<Result>;
/** The same, for who writes out only the type of the result. */
export function runWith<Result>(fn: () => Promise<Result> | Result, options?: RunWithOptions): Promise<Result>;
export async function runWith<Props, Result>(
  fn: (props: Props) => Promise<Result> | Result,
  options: RunWithOptions<Props> = {},
): Promise<Result> {
  if (typeof fn !== "function")
    throw new TypeError(`runWith: fn must be a function, received ${fn === null ? "null" : typeof fn}`);
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`runWith: options must be an object, received ${options === null ? "null" : typeof options}`);
  }
  const around = getContext()?.scope;
  if (around !== undefined && !(around.run.held && around.parent === undefined)) throw new NestedRunError();
  const snapshot = options.mode === "live" ? undefined : options.snapshot;
  checkModes(options);
  if (snapshot != null && isProduction() && options.enableSnapshot !== true) {
    throw new SnapshotDisabledError({ source: "runWith" });
  }
  const { normalize = [] } = options;
  const normalizer = normalize.length === 0 ? undefined : new Normalizer(normalize);
  const redactor = redactorOf(options.redact);
  const redaction = redactor === undefined ? undefined : new Redaction(redactor);
  const opened = snapshot == null ? undefined : openSnapshot(snapshot, normalizer, redaction);
  return new Run<Props, Result>(options, opened, { normalizer, redaction }, around).run(fn);
}

/** What is done to what a run records. */
interface Rules {
  readonly normalizer: Normalizer | undefined;
  readonly redaction: Redaction | undefined;
}

/** How a run starts in a held one, whose recording takes the place of its own. */
function withinHeld(options: RunWithOptions, around: Scope, own: Rules): HeldStart {
  const rules: Rules = {
    normalizer: own.normalizer ?? around.run.normalizer,
    redaction: own.redaction ?? around.run.redaction,
  };
  const callId = around.nextCallId("run", "runWith");
  const frame = calling(() => around.frame.openChild(frameStart(callId, "", options.initialProps, rules)));
  return { callId, frame, rules };
}

interface HeldStart {
  readonly callId: string;
  readonly frame: FrameHandle;
  readonly rules: Rules;
}

class Run<Props, Result> {
  readonly #options: RunWithOptions<Props>;
  readonly #scope: Scope;
  readonly #span: SpanRef;
  readonly #about: object;
  readonly #attributes: Record<string, unknown> | undefined;

  /** `around`: the frame of the held run that this one is started in. */
  constructor(
    options: RunWithOptions<Props>,
    opened: OpenSnapshot | undefined,
    ownRules: Rules,
    around: Scope | undefined,
  ) {
    this.#options = options;
    const recording = options.enableSnapshot ?? isDevelopment();
    const requests = recording && options.requests !== false;
    const held = around === undefined ? undefined : withinHeld(options, around, ownRules);
    const rules = opened === undefined && held !== undefined ? held.rules : ownRules;
    // A snapshot is what the run replays; the recording has what the snapshot lacks.
    const outer = opened === undefined ? around?.run : undefined;
    const run = new RunState({
      native: outer?.native ?? native,
      recording,
      requests: outer?.requests ?? requests,
      replaying: opened !== undefined || outer?.replaying === true,
      mode: opened === undefined ? (outer?.mode ?? "live") : (options.mode ?? "resume"),
      outer,
      frameCallId: outer === undefined ? undefined : held?.callId,
      beyond: opened === undefined || held === undefined || around === undefined ? undefined : beyondOf(around, held),
      onMiss: options.onMiss,
      completedFrames: options.completedFrames,
      ...rules,
      maxDepth: options.maxDepth ?? DEFAULT_MAX_DEPTH,
      eventBus: options.eventBus,
      model: options.model,
      modelRegistry: options.modelRegistry,
      traceId: options.trace?.traceId,
      attributes: options.trace?.attributes,
    });
    this.#scope = new Scope({
      run,
      parent: outer === undefined ? undefined : around,
      callId: "root",
      agentId: "",
      frame:
        outer === undefined || held === undefined
          ? startFrame(options, { recording, requests }, opened, rules)
          : held.frame,
      settings: DEFAULT_SETTINGS,
      signal: options.signal,
    });
    this.#span = { spanId: newSpanId(), parentSpanId: options.trace?.parentSpanId ?? "" };
    this.#about = describe(options, recording, opened, rules);
    this.#attributes = opened === undefined ? undefined : restorationAttributes(opened.snapshot);
  }

  async run(fn: (props: Props) => Promise<Result> | Result): Promise<Result> {
    const scope = this.#scope;
    const startedAt = performance.now();
    if (scope.run.observed) {
      const memory = (): unknown => JSON.parse(scope.memory.text());
      const continued = scope.run.replaying ? { budgetState: budgetOf(scope), memory: memory() } : {};
      scope.emit(EVENTS.RUN_WITH_START, this.#span, { ...this.#about, ...continued }, this.#attributes);
    }
    const end = (fields: object): void => {
      this.#report();
      if (scope.run.observed) {
        const metrics = metricsOf(scope);
        const duration = performance.now() - startedAt;
        const memory = JSON.parse(scope.memory.text()) as unknown;
        scope.emit(
          EVENTS.RUN_WITH_END,
          this.#span,
          { ...this.#about, ...fields, duration, metrics, memory },
          this.#attributes,
        );
      }
      scope.close();
    };
    const outcome = await this.#outcome(fn);
    for (const stream of scope.run.openStreams) stream.leave();
    if ("error" in outcome) {
      const { error } = outcome;
      scope.markStopped(error);
      const info = scope.recordable(errorInfoText(error));
      scope.journalEnd(() => scope.frame.endFailed(info));
      end({ error: toErrorInfo(error), success: false });
      throw error;
    }
    const { result } = outcome;
    const encoded = encodeValue(result);
    const { text, types } = "tombstone" in encoded ? encodeMarked(result) : encoded;
    const kept = scope.run.redaction?.encoded({ text, types }) ?? { text, types };
    scope.journalEnd(() => scope.frame.complete(kept.text, kept.types ?? undefined));
    end({
      result: JSON.parse(text) as unknown,
      ...(types === null ? {} : { resultTypes: JSON.parse(types) as unknown }),
      success: true,
    });
    return result;
  }

  /** What the function gave or failed with; or the call that was not allowed, which the agent may have caught. */
  async #outcome(fn: (props: Props) => Promise<Result> | Result): Promise<{ result: Result } | { error: unknown }> {
    const scope = this.#scope;
    try {
      const result = await storage.run(new Context(scope, this.#span.spanId), async () => fn(this.#props()));
      return scope.run.refused === undefined ? { result } : { error: scope.run.refused };
    } catch (error) {
      return { error: scope.run.refused ?? error };
    }
  }

  #report(): void {
    const { run } = this.#scope;
    const { onReport } = this.#options;
    this.#scope.countUnused();
    if (run.observed) {
      const span = { spanId: newSpanId(), parentSpanId: this.#span.spanId };
      this.#scope.emit(EVENTS.REPLAY_REPORT, span, { report: reportData(run.report) });
    }
    if (onReport === undefined) return;
    try {
      onReport(run.report);
    } catch (error) {
      // Watching a run must not change it.
      console.warn("agent-rewind: options.onReport threw; the run is not changed by it.", error);
    }
  }

  #props(): Props {
    if ("initialProps" in this.#options) return this.#options.initialProps;
    const entry = this.#scope.frame.entry();
    if (typeof entry?.props !== "string" || entry.props === "{}") return undefined as Props;
    return decodeValue(entry.props, entry.propsTypes ?? null) as Props;
  }
}

/** The place in the held run for calls that a snapshot has no answer for. */
function beyondOf(around: Scope, { frame }: HeldStart): Scope {
  const { run } = around;
  const settings = DEFAULT_SETTINGS;
  return new Scope({ run, parent: around, callId: "root", agentId: "", frame, settings });
}

function startFrame(
  options: RunWithOptions,
  keeps: { recording: boolean; requests: boolean },
  opened: OpenSnapshot | undefined,
  rules: Rules,
): FrameHandle {
  const root = frameStart("root", "", options.initialProps, rules);
  // A strict replay makes nothing, so it makes no failed call again.
  const failures = options.failures ?? (options.mode === "replay" ? "replay" : undefined);
  // And it does again what was done, in frames that called nothing too.
  const memory = options.memory ?? (options.mode === "replay" ? "start" : undefined);
  const settings = {
    ...keeps,
    ...(failures === undefined ? {} : { failures }),
    ...(memory === undefined ? {} : { memory }),
  };
  return calling(() => native.FrameHandle.startRun(root, settings, opened?.handle));
}

function describe(
  options: RunWithOptions,
  recording: boolean,
  opened: OpenSnapshot | undefined,
  { normalizer, redaction }: Rules,
): object {
  return {
    config: { isProd: isProduction(), enableSnapshot: recording },
    ...(normalizer === undefined ? {} : { normalize: normalizer.recorded }),
    ...(redaction === undefined ? {} : { redact: redaction.recorded }),
    dependencies: {
      hasEventBus: options.eventBus !== undefined,
      hasGlobalModel: options.model !== undefined,
      registeredModels: Object.keys(options.modelRegistry ?? {}),
    },
    ...(options.initialProps === undefined ? {} : encodedFields("props", options.initialProps)),
    ...(opened === undefined
      ? {}
      : {
          restoration: {
            isRestored: true,
            sourceProcessId: opened.snapshot.processId,
            snapshotTimestamp: opened.snapshot.timestamp,
            snapshotVersion: opened.snapshot.version,
            provenance: opened.snapshot.provenance,
          },
        }),
  };
}

function restorationAttributes(snapshot: Pick<AgentSnapshot, "metadata">): Record<string, unknown> | undefined {
  const entries = Object.entries(snapshot.metadata ?? {});
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries.map(([key, value]) => [`restoration.${key}`, value]));
}

function metricsOf(scope: Scope): object {
  const { aggregate } = budgetOf(scope);
  return {
    totalPromptTokens: aggregate.promptTokens,
    totalCompletionTokens: aggregate.completionTokens,
    totalTokens: aggregate.totalTokens,
    costs: aggregate.costs,
  };
}
