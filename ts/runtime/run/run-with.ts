import { runProgram } from "../call/identity/async-stack.js";
import { handOutFrame, noteStart } from "../call/failures/hand-out.js";
import { report } from "../call/failures/quiet.js";
import { RunContext, getContext, setProcessContext, storage } from "../scope/run-context.js";
import type { ReplayReport } from "../../types/report.js";
import { NestedRunError, SnapshotDisabledError } from "../../errors/index.js";
import { kindOf } from "../../errors/received.js";
import { EVENTS } from "../../events/names.js";
import { whenNothingIsLeft } from "../../files/at-exit.js";
import { calling, native, type NativeFrameHandle } from "../../native.js";
import { openSnapshot, type OpenSnapshot } from "../../snapshot/open.js";
import { decodeValue } from "../../values/decode.js";
import { encodeMarked, encodeWhole, type Encoded } from "../../values/encode.js";
import { toErrorInfo } from "../../values/error-info.js";
import { budgetOf } from "../usage/budget.js";
import { Redaction } from "../../redact/redaction.js";
import { redactorOf } from "../../redact/redactor.js";
import { isProduction } from "../scope/environment.js";
import { DEFAULT_MAX_DEPTH, frameStart } from "../frame/run-frame.js";
import { classSet } from "../../values/inexact.js";
import { Normalizer } from "../../values/normalize.js";
import { reportData } from "../scope/replay-report.js";
import { reportInFlight } from "./in-flight.js";
import { describe, metricsOf, restorationAttributes } from "./run-events.js";
import type { Recorder } from "../../types/snapshot.js";
import { checkOptions, type RunEnd, type RunWithOptions } from "./run-options.js";
import { watchStreams, type Failure } from "./returned-streams.js";
import { newRunId } from "../scope/ids.js";
import { closeRun, loadGuard, openRun } from "./network.js";
import { activeRuns } from "../scope/active-runs.js";
import { networkRules, type NetworkRules } from "../scope/network.js";
import { RunState, type OpenRun, type Rules } from "../scope/run-state.js";
import { DEFAULT_SETTINGS, Scope } from "../scope/scope.js";
import { Span, emitEvent } from "../scope/span.js";
import { warn } from "../../errors/printable.js";

/**
 * Runs a function as the root of a run. The run is recorded, and replayed from a snapshot if one is given.
 *
 * @throws NestedRunError inside a run or an agent.
 * @throws SnapshotDisabledError for a snapshot in production without `enableSnapshot: true`.
 * @throws InvalidSnapshotError with all faults of a snapshot, before anything runs.
 * @throws NormalizeError for a snapshot that was recorded with other rules and without requests.
 * @throws RedactError for a snapshot that was redacted by other rules or not redacted, and for an unsupported rule.
 * @throws the error of the function.
 *
 * @example
 * ```ts
 * import { journalCall, runWith } from "agent-rewind";
 * import { dumpSnapshot } from "agent-rewind/debugger";
 *
 * const ask = (question: string) =>
 *   journalCall({ kind: "chat", name: "some-model", request: { question } }, async () => "an answer");
 *
 * const { answer, snapshot } = await runWith(async () => ({ answer: await ask("first?"), snapshot: dumpSnapshot() }));
 * // The same request is answered from the snapshot.
 * console.log(answer === (await runWith(() => ask("first?"), { snapshot })));
 * ```
 */
export function runWith<Props, Result>(
  fn: (props: Props) => Promise<Result> | Result,
  options?: RunWithOptions<Props>,
): Promise<Result>;
/** For callers that specify only the type of the result. */
export function runWith<Result>(fn: () => Promise<Result> | Result, options?: RunWithOptions): Promise<Result>;
export async function runWith<Props, Result>(
  fn: (props: Props) => Promise<Result> | Result,
  options: RunWithOptions<Props> = {},
): Promise<Result> {
  if (typeof fn !== "function") throw new TypeError(`runWith: fn must be a function, received ${kindOf(fn)}`);
  checkOptions(options);
  const around = getContext()?.scope;
  if (around !== undefined && !(around.run.isRecordingSession && around.parent === undefined))
    throw new NestedRunError();
  const run = prepared<Props, Result>(options, around);
  // Awaited only if necessary: the function starts in the tick of its call.
  return (run instanceof Promise ? await run : run).run(fn);
}

/** A run of the whole process: all code outside of other runs belongs to it. */
export interface ProcessRun {
  readonly traceId: string;
  readonly report: ReplayReport;
  /** Ends the run. Synchronous, so that it can be called while the process exits. */
  end(failure?: { readonly error: unknown }): void;
}

/**
 * Starts a run of the whole process.
 * @param attributes of the span of the run.
 * @param onRefused receives each call and request that a strict replay refuses.
 * @throws the errors of `runWith` for options and snapshots.
 */
export async function openProcessRun(
  options: RunWithOptions,
  attributes: Readonly<Record<string, unknown>>,
  onRefused: (error: Error) => void,
): Promise<ProcessRun> {
  checkOptions(options);
  return (await prepared<unknown, unknown>(options, undefined, { attributes, onRefused })).open();
}

interface OfProcess {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly onRefused: (error: Error) => void;
}

function prepared<Props, Result>(
  options: RunWithOptions<Props>,
  around: Scope | undefined,
  ofProcess?: OfProcess,
): Run<Props, Result> | Promise<Run<Props, Result>> {
  const snapshot = options.mode === "live" ? undefined : options.snapshot;
  if (snapshot != null && isProduction() && options.enableSnapshot !== true) {
    throw new SnapshotDisabledError({ source: "runWith" });
  }
  const { normalize = [] } = options;
  const normalizer = normalize.length === 0 ? undefined : new Normalizer(normalize);
  const redactor = redactorOf(options.redact);
  const redaction = redactor === undefined ? undefined : new Redaction(redactor);
  const opened = snapshot == null ? undefined : openSnapshot(snapshot, normalizer, redaction);
  const exact = classSet("runWith: options.exact", options.exact);
  const byDefault = options.mode === "replay" ? "refuse" : "allow";
  const network = networkRules("runWith: options", options, byDefault, around?.run.network);
  const loading = loadGuard(network);
  const create = (): Run<Props, Result> =>
    new Run(options, opened, { normalizer, redaction, exact }, network, around, ofProcess);
  return loading === undefined ? create() : loading.then(create);
}

/** Opens the frame of a run in the recording session around it. */
function withinSession(options: RunWithOptions, around: Scope, own: Rules): SessionStart {
  const rules: Rules = {
    normalizer: own.normalizer ?? around.run.normalizer,
    redaction: own.redaction ?? around.run.redaction,
    exact: new Set([...own.exact, ...(around.run.inputRules.exact ?? [])]),
  };
  const callId = around.nextCallId("run", "runWith");
  const { exactContent } = around.run.inputRules;
  const inputRules = { exactContent, exact: rules.exact };
  const { warns } = around.run;
  const start = frameStart(callId, "", options.initialProps, { ...rules, inputRules, warns }, getContext()?.within);
  noteStart(around);
  const frame = calling(() => around.frame.openChild(start));
  return { callId, frame, rules };
}

interface SessionStart {
  readonly callId: string;
  readonly frame: NativeFrameHandle;
  readonly rules: Rules;
}

class Run<Props, Result> {
  readonly #options: RunWithOptions<Props>;
  readonly #scope: Scope;
  readonly #span: Span;
  readonly #context: RunContext;

  /** `around`: the frame of the recording session that the run is started in. */
  constructor(
    options: RunWithOptions<Props>,
    opened: OpenSnapshot | undefined,
    ownRules: Rules,
    network: NetworkRules,
    around: Scope | undefined,
    ofProcess: OfProcess | undefined,
  ) {
    this.#options = options;
    const recording = options.enableSnapshot ?? !isProduction();
    // The run of a process is kept as its events, with the requests, which explain a miss.
    const requests = (recording || ofProcess !== undefined) && options.requests !== false;
    const session = around === undefined ? undefined : withinSession(options, around, ownRules);
    const rules = opened === undefined && session !== undefined ? session.rules : ownRules;
    // A run with its own snapshot replays that. The recording of the session answers only what the snapshot lacks.
    const outer = opened === undefined ? around?.run : undefined;
    const outerRecording =
      opened === undefined || session === undefined || around === undefined
        ? undefined
        : outerRecordingOf(around, session);
    const run = new RunState({
      native: outer?.native ?? native,
      recording,
      requests: outer?.requests ?? requests,
      replaying: opened !== undefined || outer?.replaying === true,
      mode: opened === undefined ? (outer?.mode ?? "live") : (options.mode ?? "resume"),
      outer,
      frameCallId: outer === undefined ? undefined : session?.callId,
      onMiss: options.onMiss,
      onRefused: ofProcess?.onRefused,
      reported: options.onReport !== undefined || outer?.isReported === true,
      completedFrames: options.completedFrames,
      errors: [...(options.errors ?? []), ...(around?.run.errors ?? [])],
      ...rules,
      exactContent: outer?.inputRules.exactContent ?? opened?.handle.exactContent,
      maxDepth: options.maxDepth ?? DEFAULT_MAX_DEPTH,
      eventBus: options.eventBus,
      model: options.model,
      modelRegistry: options.modelRegistry,
      traceId: options.trace?.traceId,
      attributes: options.trace?.attributes,
      network,
      session: around?.run,
      ownsLostContexts: around?.run.ownsLostContexts,
    });
    this.#scope = new Scope({
      run,
      parent: outer === undefined ? undefined : around,
      callId: "root",
      agentId: "",
      frame:
        outer === undefined || session === undefined
          ? startFrame(options, { recording, requests }, opened, rules)
          : session.frame,
      settings: DEFAULT_SETTINGS,
      outerRecording,
      signal: options.signal,
    });
    if (opened !== undefined && run.mode === "resume") reportInFlight(this.#scope);
    const about = describe(options, recording, opened, rules);
    const attributes =
      ofProcess?.attributes ?? (opened === undefined ? undefined : restorationAttributes(opened.snapshot));
    this.#span = new Span(this.#scope, "RUN_WITH", options.trace?.parentSpanId ?? "", () => about, attributes);
    this.#context = new RunContext(this.#scope, this.#span.spanId);
  }

  open(): ProcessRun {
    const { run } = this.#scope;
    this.#start();
    activeRuns.executing.add(run);
    setProcessContext(this.#context);
    return {
      traceId: run.emitter.traceId,
      report: run.report,
      end: (failure) => {
        setProcessContext(undefined);
        activeRuns.executing.delete(run);
        this.#end(failure ?? { result: encodeMarked(undefined) });
      },
    };
  }

  #start(): void {
    const scope = this.#scope;
    openRun(scope.run);
    this.#span.start(() => ({
      recorder: JSON.parse(scope.frame.recorder) as Recorder,
      firstRun: scope.frame.identity,
      ...(scope.run.replaying ? { budgetState: budgetOf(scope), memory: this.#memory() } : {}),
    }));
  }

  async run(fn: (props: Props) => Promise<Result> | Result): Promise<Result> {
    this.#start();
    const outcome = await this.#outcome(fn);
    if ("error" in outcome) {
      this.#end(outcome);
      throw outcome.error;
    }
    const { result } = outcome;
    const encoded = encodeWhole(result);
    const recorded = "tombstone" in encoded ? encodeMarked(result) : encoded;
    if (!this.#staysOpen(result, recorded)) this.#end({ result: recorded });
    return result;
  }

  /** The outcome of the function, or what was refused, which the agent may have caught. */
  async #outcome(fn: (props: Props) => Promise<Result> | Result): Promise<{ result: Result } | Failure> {
    const { run } = this.#scope;
    const { misses } = run;
    activeRuns.executing.add(run);
    try {
      const result = await storage.run(this.#context, () => runProgram(() => fn(this.#props())));
      return misses.refused === undefined ? { result } : { error: misses.refused };
    } catch (error) {
      return { error: misses.refused ?? error };
    } finally {
      activeRuns.executing.delete(run);
    }
  }

  /**
   * True if the function has returned streams. The run ends with them, or when the process has nothing left to wait for.
   * Nothing here may refer to the streams: a dropped stream ends too.
   */
  #staysOpen(returned: Result, recorded: Encoded): boolean {
    const { run, outerRecording } = this.#scope;
    const { openRuns } = (outerRecording?.run ?? run).outermost;
    const close = (failure?: Failure): void => {
      if (!openRuns.delete(open)) return;
      cancel();
      const { refused } = run.misses;
      this.#end(refused === undefined ? (failure ?? { result: recorded }) : { error: refused });
    };
    const streams = watchStreams(returned, this.#context, close);
    if (streams === undefined) return false;
    const open: OpenRun = { idle: () => streams.idle(), end: close };
    const cancel = whenNothingIsLeft(() => close());
    openRuns.add(open);
    emitEvent(this.#scope, EVENTS.RUN_WITH_RETURN, this.#span.spanId, () => ({}));
    return true;
  }

  #end(outcome: { readonly result: Encoded } | Failure): void {
    const scope = this.#scope;
    closeRun(scope.run);
    for (const stream of scope.run.openStreams) stream.detach();
    const emitEnd = (fields: () => object): void => {
      this.#report();
      this.#span.end(() => ({ ...fields(), metrics: metricsOf(scope), memory: this.#memory() }));
    };
    if ("error" in outcome) {
      const { error } = outcome;
      const replayed = scope.originsOf(error).find((origin) => origin.replayed);
      if (replayed !== undefined) scope.run.report.endedByReplayed = replayed.callId;
      scope.fail(error, (ended) => emitEnd(() => ({ error: toErrorInfo(error), ...ended, success: false })));
      handOutFrame(scope, error, replayed !== undefined);
      report(error);
      if (replayed !== undefined) noteReplayed(error, replayed.callId);
    } else {
      const { text, types } = outcome.result;
      scope.complete(scope.run.redaction?.encoded({ text, types }) ?? { text, types }, () =>
        emitEnd(() => ({
          result: JSON.parse(text) as unknown,
          ...(types === null ? {} : { resultTypes: JSON.parse(types) as unknown }),
          success: true,
        })),
      );
    }
    const { onEnd } = this.#options;
    if (onEnd === undefined) return;
    const end: RunEnd = "error" in outcome ? { error: outcome.error } : {};
    notify("onEnd", () => this.#context.run(() => onEnd(end)));
  }

  #report(): void {
    const { run } = this.#scope;
    const { onReport } = this.#options;
    this.#scope.countUnused();
    emitEvent(this.#scope, EVENTS.REPLAY_REPORT, this.#span.spanId, () => ({ report: reportData(run.report) }));
    if (onReport !== undefined) notify("onReport", () => onReport(run.report));
  }

  #memory(): unknown {
    return JSON.parse(this.#scope.memory.text());
  }

  #props(): Props {
    if ("initialProps" in this.#options) return this.#options.initialProps;
    const entry = this.#scope.frame.entry();
    if (typeof entry?.props !== "string" || entry.props === "{}") return undefined as Props;
    return decodeValue(entry.props, entry.propsTypes ?? null) as Props;
  }
}

/** Adds to the stack of an error that it comes from a recording. Name, message and class stay as they are. */
function noteReplayed(error: unknown, callId: string): void {
  if (!(error instanceof Error) || typeof error.stack !== "string") return;
  const note = `\n    (agent-rewind replayed this failure of ${callId}; run with { failures: "retry" } to execute the call again)`;
  try {
    error.stack += note;
  } catch {
    // A frozen error.
  }
}

/** Calls an observer of the run. It must not change the run. */
function notify(option: "onReport" | "onEnd", call: () => unknown): void {
  const fail = (error: unknown): void => {
    warn(`options.${option} threw an error. The run continues.`, error);
  };
  try {
    Promise.resolve(call()).catch(fail);
  } catch (error) {
    fail(error);
  }
}

/** The frame of the recording session that answers what the run's own snapshot does not. */
function outerRecordingOf(around: Scope, { frame }: SessionStart): Scope {
  const { run } = around;
  const settings = DEFAULT_SETTINGS;
  return new Scope({ run, parent: around, callId: "root", agentId: "", frame, settings });
}

function startFrame(
  options: RunWithOptions,
  keeps: { recording: boolean; requests: boolean },
  opened: OpenSnapshot | undefined,
  rules: Rules,
): NativeFrameHandle {
  const inputRules = { exactContent: opened?.handle.exactContent !== false, exact: rules.exact };
  const root = frameStart("root", "", options.initialProps, { ...rules, inputRules, warns: false });
  // A strict replay executes no calls, so it retries no failure.
  const failures = options.failures ?? (options.mode === "replay" ? "replay" : undefined);
  // And it repeats the recorded run exactly, also in frames without calls.
  const memory = options.memory ?? (options.mode === "replay" ? "start" : undefined);
  // Older recordings do not name the first run.
  const { firstRun = opened?.snapshot.provenance.traceId ?? newRunId() } = opened?.snapshot.provenance ?? {};
  const settings = {
    ...keeps,
    firstRun,
    ...(failures === undefined ? {} : { failures }),
    ...(memory === undefined ? {} : { memory }),
  };
  return calling(() => native.FrameHandle.startRun(root, settings, opened?.handle));
}
