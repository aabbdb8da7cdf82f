import { checkFunction, checkObject, received } from "../../errors/received.js";
import { RunContext, getContext, storage } from "../scope/run-context.js";
import { MaxDepthExceededError, MaxRebornsExceededError } from "../../errors/index.js";
import { EVENTS } from "../../events/names.js";
import {
  calling,
  native,
  type NativeFrameHandle,
  type NativeFrameStart,
  type NativeRecordedState,
} from "../../native.js";
import type { ErrorInfo, Recorder } from "../../types/snapshot.js";
import { decodeValue } from "../../values/decode.js";
import { encodeInput, encodeWhole } from "../../values/encode.js";
import { toErrorInfo, unrecordable } from "../../values/error-info.js";
import { restoreError } from "../call/failures/incomplete-errors.js";
import { budgetOf } from "../usage/budget.js";
import { isProduction } from "../scope/environment.js";
import { runProgram } from "../call/identity/async-stack.js";
import { encodedFields } from "../call/event-fields.js";
import { handOutFrame, noteStart } from "../call/failures/hand-out.js";
import { keepQuiet } from "../call/failures/quiet.js";
import { uncovered, warnInexact } from "../../values/inexact.js";
import { isRebornSignal, type RebornSignal } from "./reborn.js";
import { newRunId } from "../scope/ids.js";
import { RunState } from "../scope/run-state.js";
import { Generation } from "../scope/generation.js";
import { DEFAULT_SETTINGS, Scope, type AgentSettings } from "../scope/scope.js";
import { Span, emitEvent } from "../scope/span.js";

export const DEFAULT_MAX_DEPTH = 50;

/** `outputTypes` of a frame whose result could not be recorded. */
const UNRECORDED = '{"":"tombstone"}';

/** Number of handlers on the stack, each inside the other. */
let nestedCalls = 0;

/** The call of an agent, or of `runFrame`. */
export interface FrameSpec<Props, Result> {
  readonly id: string;
  readonly props: Props;
  readonly settings: AgentSettings;
  readonly handler: (props: Props) => Result | RebornSignal | Promise<Result | RebornSignal>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a function as a sub-agent: in its own frame, with its own journal, memory, budget and abort signal. A replay
 * finds the frame by `id` and `input`. Outside of a run the frame is a run of its own. Agents are built on this
 * function, and your own agent loop can use it too.
 *
 * @param frame.id the name of the sub-agent; part of the callId.
 * @param frame.input the argument of `fn`. `undefined` and `{}` are the same input.
 * @param fn may return `reborn(newInput)` to be called again with its memory kept.
 * @throws MaxDepthExceededError, AbortError, and the errors of `fn`.
 *
 * @example
 * ```ts
 * import { journalCall, runFrame, runWith } from "agent-rewind";
 *
 * const research = (topic: string) =>
 *   runFrame({ id: "researcher", input: { topic } }, async ({ topic }) =>
 *     journalCall({ kind: "chat", name: "some-model", request: { topic } }, () => `all about ${topic}`),
 *   );
 * // Replay finds each frame by its id and input, whichever starts first.
 * console.log(await runWith(() => Promise.all([research("rain"), research("snow")])));
 * ```
 */
export function runFrame<Input, Result>(
  frame: { id: string; input: Input; signal?: AbortSignal },
  fn: (input: Input) => Result | RebornSignal | Promise<Result | RebornSignal>,
): Promise<Result> {
  try {
    checkObject("runFrame: frame", frame);
    checkFunction("runFrame: fn", fn);
    if (frame.signal !== undefined && !(frame.signal instanceof AbortSignal))
      throw new TypeError(`runFrame: frame.signal must be an AbortSignal, received ${received(frame.signal)}`);
  } catch (error) {
    return Promise.reject(error);
  }
  return enterFrame({
    id: frame.id,
    props: frame.input,
    settings: DEFAULT_SETTINGS,
    handler: fn,
    signal: frame.signal,
  });
}

/** Opens a frame under the current one, or as the root of a run of its own, and runs its generations. */
export function enterFrame<Props, Result>(spec: FrameSpec<Props, Result>): Promise<Result> {
  const parent = getContext();
  let scope: Scope;
  try {
    if (typeof spec.id !== "string" || spec.id === "") {
      throw new TypeError("runFrame: frame.id must be a non-empty string");
    }
    scope = openScope(spec, parent);
  } catch (error) {
    return Promise.reject(error);
  }
  const result = new FrameRun<Props, Result>(spec, scope, parent).run();
  // If the caller ended without awaiting this frame, its abort must not end the process as an unhandled rejection.
  scope.onAbandon(() => void result.catch(() => {}));
  return result;
}

type FrameInput = Omit<FrameSpec<unknown, unknown>, "handler">;

function openScope(spec: FrameInput, parent: RunContext | undefined): Scope {
  const start = (callId: string): NativeFrameStart =>
    frameStart(callId, spec.id, spec.props, parent?.scope.run ?? NO_RULES, parent?.within);
  let callId: string;
  let run: RunState;
  let frame: NativeFrameHandle;
  if (parent === undefined) {
    const recording = !isProduction();
    callId = `root/agent:${spec.id}:0`;
    run = new RunState({
      native,
      recording,
      replaying: false,
      requests: recording,
      mode: "live",
      maxDepth: DEFAULT_MAX_DEPTH,
    });
    frame = calling(() =>
      native.FrameHandle.startRun(start(callId), { recording, requests: recording, firstRun: newRunId() }),
    );
  } else {
    const outer = parent.scope;
    run = outer.run;
    if (outer.depth >= run.maxDepth) throw new MaxDepthExceededError(run.maxDepth, spec.id);
    parent.throwIfAborted();
    callId = outer.nextCallId("agent", spec.id);
    noteStart(outer);
    frame = calling(() => outer.frame.openChild(start(callId)));
  }
  return new Scope({
    run,
    parent: parent?.scope,
    openedIn: parent,
    callId,
    agentId: spec.id,
    frame,
    settings: spec.settings,
    signal: spec.signal,
  });
}

const NO_RULES: FrameRules = {
  normalizer: undefined,
  redaction: undefined,
  inputRules: { exactContent: true },
  warns: false,
};

type FrameRules = Pick<RunState, "normalizer" | "redaction" | "inputRules" | "warns">;

/** The identity and the input of a frame, in the form that crosses the binding. `within`: the callId of its outer call. */
export function frameStart(
  callId: string,
  agentId: string,
  props: unknown,
  { normalizer, redaction, inputRules, warns }: FrameRules,
  within?: string,
): NativeFrameStart {
  const input = encodeInput(props, inputRules);
  const { text, types, restorable } = redaction?.encoded(input) ?? input;
  const typed = types === null ? "" : `,"types":${types}`;
  const normalized = normalizer?.document(`{"input":${text}${typed}}`, "agent");
  const part = uncovered(input, normalized);
  // The frame of a run is not looked for.
  if (part !== undefined && warns && callId !== "root") {
    warnInexact(`the input of "${agentId}"`, "a replay finds it only by its place among its calls", part);
  }
  return {
    callId: JSON.stringify(callId),
    agentId: JSON.stringify(redaction?.name(agentId) ?? agentId),
    ...(within === undefined ? {} : { within: JSON.stringify(within) }),
    input: text,
    restorable,
    inexact: part !== undefined,
    ...(types === null ? {} : { inputTypes: types }),
    ...(normalized === undefined ? {} : { normalized }),
  };
}

class FrameRun<Props, Result> {
  readonly #spec: FrameSpec<Props, Result>;
  readonly #scope: Scope;
  readonly #span: Span;
  #generations = 0;

  constructor(spec: FrameSpec<Props, Result>, scope: Scope, parent: RunContext | undefined) {
    this.#spec = spec;
    this.#scope = scope;
    const within = parent?.within;
    this.#span = new Span(scope, "AGENT", parent?.trace.spanId ?? "", () => ({
      ...propsFields(spec.props),
      inputHash: scope.frame.inputHash,
      callId: scope.callId,
      ...(within === undefined ? {} : { within }),
      maxReborns: spec.settings.maxReborns,
    }));
    this.#span.start(() => ({
      // Without a run, the trace names the recorder here.
      ...(scope.parent === undefined
        ? { recorder: JSON.parse(scope.frame.recorder) as Recorder, firstRun: scope.frame.identity }
        : {}),
      ...(scope.frameReport.recording === "own" ? { budgetState: budgetOf(scope) } : {}),
      ...scope.parent?.takeHandled(),
    }));
  }

  async run(): Promise<Result> {
    const recorded = this.#scope.run.reusesFrames ? this.#scope.frame.recordedState() : null;
    if (recorded != null && recorded.status !== "running" && this.#mayReuse(recorded)) return this.#reuse(recorded);
    try {
      const result = await this.#generationsUntilReturn();
      this.#scope.markReturned();
      if (this.#reachEnd()) await this.#waitForRelease();
      this.#complete(result);
      return result;
    } catch (error) {
      this.#scope.markReturned();
      if (this.#reachEnd()) await this.#waitForRelease();
      this.#fail(error);
      throw error;
    }
  }

  /** A failure that ended the run is retried, if calls may be executed. So is a result that could not be recorded. */
  #mayReuse({ status, text, retried, types }: NativeRecordedState): boolean {
    if (status === "completed") return types !== UNRECORDED;
    if (unrecordable(JSON.parse(text ?? "{}") as ErrorInfo) !== undefined) return false;
    return !retried || this.#scope.run.mode === "replay";
  }

  /** Returns the recorded result without running the handler. */
  async #reuse({ status, text, types }: NativeRecordedState): Promise<Result> {
    const scope = this.#scope;
    await this.#waitForRelease();
    scope.frame.adopt();
    scope.frameReport.reused = true;
    if (status === "completed") {
      const result = decodeValue(text ?? "null", types ?? null) as Result;
      this.#emitEnd(() => ({ ...resultFields(result), success: true, cache: true }));
      scope.close();
      return result;
    }
    const error = restoreError(scope, scope.callId, JSON.parse(text ?? "{}") as ErrorInfo);
    this.#emitEnd(() => ({ error: toErrorInfo(error), ...this.#failureFields(), success: false, cache: true }));
    scope.run.report.replayedFailures += 1;
    scope.close();
    this.#handOut(error, true);
    throw error;
  }

  /**
   * Reports to the core that the frame has reached its recorded end. Returns true if something recorded before that end
   * is still pending. Otherwise the frame must end at once, as it did when it was recorded: nothing that other branches
   * do may come in between.
   */
  #reachEnd(): boolean {
    const { run, frame } = this.#scope;
    const order = run.replaying ? frame.releaseOrder : null;
    return order != null && (frame.reachEnd() || run.releases.holdsBefore(order));
  }

  /** Waits until the recorded order reaches the frame's end, so that a race between agents has the recorded winner. */
  async #waitForRelease(): Promise<void> {
    const { run, frame } = this.#scope;
    const order = run.replaying ? frame.releaseOrder : null;
    if (order == null) return;
    await run.releases.waitForRelease(order);
    if (frame.reachEnd()) this.#scope.count("overtaken");
  }

  async #generationsUntilReturn(): Promise<Result> {
    const scope = this.#scope;
    let props = this.#firstProps();
    // A resumed frame may have been reborn before.
    this.#generations = scope.generation.id;
    for (;;) {
      this.#generations += 1;
      const result = await this.#generation(props);
      if (!isRebornSignal(result)) return result;
      if (this.#generations > this.#spec.settings.maxReborns) {
        throw new MaxRebornsExceededError(scope.agentId, this.#spec.settings.maxReborns);
      }
      if ("newProps" in result) props = result.newProps as Props;
      scope.closeChildren();
      scope.generation = new Generation(scope.generation.id + 1);
      const input = encodeInput(props);
      const encoded = scope.run.redaction?.encoded(input) ?? input;
      if (encoded.restorable) scope.frame.nextGeneration(encoded.text, encoded.types ?? undefined);
      else scope.frame.nextGeneration();
    }
  }

  /** A frame that continues in a later generation starts with the props of that generation. */
  #firstProps(): Props {
    const entry = this.#scope.frame.entry();
    if (entry === null || entry === undefined || entry.generation === 0 || typeof entry.props !== "string") {
      return this.#spec.props;
    }
    return decodeValue(entry.props, entry.propsTypes ?? null) as Props;
  }

  async #generation(props: Props): Promise<Result | RebornSignal> {
    const scope = this.#scope;
    const span = new Span(scope, "GENERATION", this.#span.spanId, () => ({
      generationId: scope.generation.id,
      ...propsFields(props),
    }));
    span.start(() => ({ memory: this.#memory() }));
    try {
      scope.throwIfAborted();
      // A new stack, after too many nested agents without an await.
      if (nestedCalls >= DEFAULT_MAX_DEPTH) await Promise.resolve();
      const context = new RunContext(scope, span.spanId);
      const result = await storage.run(context, () => runProgram(() => this.#handle(props)));
      scope.throwIfAborted();
      if (isRebornSignal(result)) {
        emitEvent(scope, EVENTS.AGENT_REBORN, span.spanId, () => ({
          generationId: scope.generation.id,
          ...("newProps" in result ? encodedFields("newProps", result.newProps) : {}),
        }));
        span.end(() => ({ endReason: "reborn", success: true, memory: this.#memory() }));
      } else {
        span.end(() => ({ endReason: "return", ...resultFields(result), success: true, memory: this.#memory() }));
      }
      return result;
    } catch (error) {
      span.endFailed(error, () => ({ endReason: "error", memory: this.#memory() }));
      throw error;
    }
  }

  /** Calls the handler. Until its first await it runs on the stack of the agent's caller. */
  #handle(props: Props): Result | RebornSignal | Promise<Result | RebornSignal> {
    nestedCalls += 1;
    try {
      return this.#spec.handler(props);
    } finally {
      nestedCalls -= 1;
    }
  }

  #memory(): unknown {
    return JSON.parse(this.#scope.memory.text());
  }

  #complete(result: Result): void {
    const scope = this.#scope;
    const value = encodeWhole(result);
    const encoded = scope.run.redaction?.encoded(value) ?? value;
    // With a tombstone the agent has succeeded; only its result cannot be replayed.
    scope.complete("tombstone" in encoded ? { text: "null", types: UNRECORDED } : encoded, () =>
      this.#emitEnd(() => ({ ...resultFields(result), success: true })),
    );
  }

  #fail(error: unknown): void {
    const scope = this.#scope;
    const failedBy = scope.fail(error, (ended) =>
      this.#emitEnd(() => ({ error: toErrorInfo(error), ...ended, ...this.#failureFields(), success: false })),
    );
    this.#handOut(
      error,
      failedBy.some(({ replayed }) => replayed),
    );
  }

  /** Notes that the program receives the frame's error. */
  #handOut(error: unknown, replayed: boolean): void {
    const { frame, frameReport } = this.#scope;
    if (frameReport.live === 0 && frame.recordedState()?.status === "failed") keepQuiet(error);
    handOutFrame(this.#scope, error, replayed);
  }

  #failureFields(): { handled?: true } {
    return this.#scope.frame.wasHandled ? { handled: true } : {};
  }

  #emitEnd(fields: () => object): void {
    this.#span.end(() => ({ ...fields(), generationCount: this.#generations }));
  }
}

function propsFields(props: unknown): object {
  return encodedFields("props", props);
}

function resultFields(result: unknown): object {
  const encoded = encodeWhole(result);
  if ("tombstone" in encoded) return { tombstone: `${encoded.tombstone.path}: ${encoded.tombstone.reason}` };
  const value = { result: JSON.parse(encoded.text) as unknown };
  return encoded.types === null ? value : { ...value, resultTypes: JSON.parse(encoded.types) as unknown };
}
