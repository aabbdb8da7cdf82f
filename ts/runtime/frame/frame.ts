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
import { encodeInput, encodeValue } from "../../values/encode.js";
import { errorInfoText, fromErrorInfo, toErrorInfo } from "../../values/error-info.js";
import { budgetOf } from "../usage/budget.js";
import { isProduction } from "../scope/environment.js";
import type { Redaction } from "../../redact/redaction.js";
import { newSpanId } from "../scope/ids.js";
import { encodedFields } from "../call/event-fields.js";
import type { Normalizer } from "../../values/normalize.js";
import { isRebornSignal, type RebornSignal } from "./reborn.js";
import { RunState, type SpanRef } from "../scope/run-state.js";
import { Generation } from "../scope/generation.js";
import { DEFAULT_SETTINGS, Scope, type AgentSettings } from "../scope/scope.js";

export const DEFAULT_MAX_DEPTH = 50;

/** In `outputTypes` of a frame: its result could not be recorded. */
const UNRECORDED = '{"":"tombstone"}';

/** Handlers that are on the stack now, each inside the other. */
let nestedCalls = 0;

/** An agent's call, or a frame of an agent loop of one's own. */
export interface FrameSpec<Props, Result> {
  readonly id: string;
  readonly props: Props;
  readonly settings: AgentSettings;
  readonly handler: (props: Props) => Result | RebornSignal | Promise<Result | RebornSignal>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a function as a sub-agent: in a frame of its own, with its own journal, memory, budget and
 * abort signal, that is found again on replay by `id` and `input`. Outside of runs it is a run of its own.
 * This is what agents are made of, and what an agent loop of your own can use.
 *
 * @param frame.id what is run; part of the callId.
 * @param frame.input what it is run with. `undefined` and `{}` are the same input.
 * @param fn may return `reborn(newInput)` to be called again with its memory kept.
 * @throws MaxDepthExceededError, AbortError, and whatever `fn` throws.
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
  let opened: { scope: Scope; inputHash: string };
  try {
    if (typeof spec.id !== "string" || spec.id === "") {
      throw new TypeError("runFrame: frame.id must be a string that is not empty");
    }
    opened = openScope(spec, parent);
  } catch (error) {
    return Promise.reject(error);
  }
  const { scope, inputHash } = opened;
  const result = new FrameRun<Props, Result>(spec, scope, parent, inputHash).run();
  // Who started it has ended without waiting for it: that it is aborted then must not end the process.
  scope.onAbandon(() => void result.catch(() => {}));
  return result;
}

type FrameInput = Omit<FrameSpec<unknown, unknown>, "handler">;

function openScope(spec: FrameInput, parent: RunContext | undefined): { scope: Scope; inputHash: string } {
  const start = (callId: string): NativeFrameStart =>
    frameStart(callId, spec.id, spec.props, parent?.scope.run ?? NO_RULES);
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
    frame = calling(() => native.FrameHandle.startRun(start(callId), { recording, requests: recording }));
  } else {
    const outer = parent.scope;
    run = outer.run;
    if (outer.depth >= run.maxDepth) throw new MaxDepthExceededError(run.maxDepth, spec.id);
    parent.throwIfAborted();
    callId = outer.nextCallId("agent", spec.id);
    frame = calling(() => outer.frame.openChild(start(callId)));
  }
  const scope = new Scope({
    run,
    parent: parent?.scope,
    callId,
    agentId: spec.id,
    frame,
    settings: spec.settings,
    signal: spec.signal,
  });
  return { scope, inputHash: frame.inputHash };
}

const NO_RULES = { normalizer: undefined, redaction: undefined };

/** A frame's identity and input, as the core takes them. */
export function frameStart(
  callId: string,
  agentId: string,
  props: unknown,
  { normalizer, redaction }: { normalizer: Normalizer | undefined; redaction: Redaction | undefined },
): NativeFrameStart {
  const input = encodeInput(props);
  const { text, types, exact } = redaction?.encoded(input) ?? input;
  const typed = types === null ? "" : `,"types":${types}`;
  return {
    callId: JSON.stringify(callId),
    agentId: JSON.stringify(redaction?.name(agentId) ?? agentId),
    input: text,
    exact,
    ...(types === null ? {} : { inputTypes: types }),
    ...(normalizer === undefined ? {} : { normalized: normalizer.document(`{"input":${text}${typed}}`, "agent") }),
  };
}

class FrameRun<Props, Result> {
  readonly #spec: FrameSpec<Props, Result>;
  readonly #scope: Scope;
  readonly #parent: RunContext | undefined;
  readonly #span: SpanRef;
  readonly #inputHash: string;
  readonly #startedAt = performance.now();
  #generations = 0;
  #about: object | undefined;

  constructor(spec: FrameSpec<Props, Result>, scope: Scope, parent: RunContext | undefined, inputHash: string) {
    this.#spec = spec;
    this.#scope = scope;
    this.#parent = parent;
    this.#span = { spanId: newSpanId(), parentSpanId: parent?.trace.spanId ?? "" };
    this.#inputHash = inputHash;
    if (scope.run.observed) {
      const continued = scope.frameReport.recording === "own" ? { budgetState: budgetOf(scope) } : {};
      // Without a run around it, the agent's events alone tell how the recording is replayed.
      const recorder = parent === undefined ? { recorder: JSON.parse(scope.frame.recorder) as Recorder } : {};
      scope.emit(EVENTS.AGENT_START, this.#span, { ...this.#describe(), ...recorder, ...continued });
    }
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

  /** A failure that ended the run is tried again, unless nothing may be made. A result that was not recorded is made. */
  #mayReuse({ status, endedTheRun, types }: NativeRecordedState): boolean {
    if (status === "completed" && types === UNRECORDED) return false;
    return status === "completed" || !endedTheRun || this.#scope.run.mode === "replay";
  }

  /** Takes the recorded result, without running the handler. */
  async #reuse({ status, text, types }: NativeRecordedState): Promise<Result> {
    const scope = this.#scope;
    await this.#waitForRelease();
    scope.frame.adopt();
    scope.frameReport.reused = true;
    if (status === "completed") {
      const result = decodeValue(text ?? "null", types ?? null) as Result;
      if (scope.run.observed) this.#emitEnd({ ...resultFields(result), success: true, cache: true });
      scope.close();
      return result;
    }
    const error = fromErrorInfo(JSON.parse(text ?? "{}") as ErrorInfo);
    if (scope.run.observed) this.#emitEnd({ error: toErrorInfo(error), success: false, cache: true });
    scope.close();
    this.#parent?.scope.remember(error, () => scope.frame.markFrameStopped());
    throw error;
  }

  /**
   * Reports to the core that the frame has reached its recorded end. Returns true if something recorded before that end
   * is still pending. Otherwise the frame must end at once, as it did when it was recorded: nothing that other branches
   * do may come in between.
   */
  #reachEnd(): boolean {
    const { run, frame } = this.#scope;
    const order = run.replaying ? frame.turn : null;
    return order != null && (frame.reachEnd() || run.releases.holdsBefore(order));
  }

  /** Waits until the recorded order reaches the frame's end, so that a race between agents has the recorded winner. */
  async #waitForRelease(): Promise<void> {
    const { run, frame } = this.#scope;
    const order = run.replaying ? frame.turn : null;
    if (order == null) return;
    await run.releases.waitForRelease(order);
    if (frame.reachEnd()) {
      this.#scope.frameReport.overtaken += 1;
      run.report.overtaken += 1;
    }
  }

  async #generationsUntilReturn(): Promise<Result> {
    const scope = this.#scope;
    let props = this.#firstProps();
    // One that is resumed has been reborn before.
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
      if (encoded.exact) scope.frame.nextGeneration(encoded.text, encoded.types ?? undefined);
      else scope.frame.nextGeneration();
    }
  }

  /** A frame that goes on in a later generation has that one's props; in the first they are the call's. */
  #firstProps(): Props {
    const entry = this.#scope.frame.entry();
    if (entry === null || entry === undefined || entry.generation === 0 || typeof entry.props !== "string") {
      return this.#spec.props;
    }
    return decodeValue(entry.props, entry.propsTypes ?? null) as Props;
  }

  async #generation(props: Props): Promise<Result | RebornSignal> {
    const scope = this.#scope;
    const span = { spanId: newSpanId(), parentSpanId: this.#span.spanId };
    let about: object | undefined;
    const describe = (): object => (about ??= { generationId: scope.generation.id, ...propsFields(props) });
    const startedAt = performance.now();
    if (scope.run.observed) scope.emit(EVENTS.GENERATION_START, span, { ...describe(), memory: this.#memory() });
    try {
      scope.throwIfAborted();
      // On a stack of its own, where agents have called one another too often without a pause.
      if (nestedCalls >= DEFAULT_MAX_DEPTH) await Promise.resolve();
      const result = await storage.run(new RunContext(scope, span.spanId), () => this.#handle(props));
      scope.throwIfAborted();
      if (scope.run.observed) {
        const rebirth = isRebornSignal(result);
        if (rebirth) this.#emitRebirth(span, result);
        scope.emit(EVENTS.GENERATION_END, span, {
          ...describe(),
          endReason: rebirth ? "reborn" : "return",
          ...(rebirth ? {} : resultFields(result)),
          duration: performance.now() - startedAt,
          success: true,
          memory: this.#memory(),
        });
      }
      return result;
    } catch (error) {
      if (scope.run.observed) {
        scope.emit(EVENTS.GENERATION_END, span, {
          ...describe(),
          endReason: "error",
          error: toErrorInfo(error),
          duration: performance.now() - startedAt,
          success: false,
          memory: this.#memory(),
        });
      }
      throw error;
    }
  }

  /** Calls the handler. What it does before its first pause is on the stack of who called the agent. */
  async #handle(props: Props): Promise<Result | RebornSignal> {
    nestedCalls += 1;
    let result: Result | RebornSignal | Promise<Result | RebornSignal>;
    try {
      result = this.#spec.handler(props);
    } finally {
      nestedCalls -= 1;
    }
    return result;
  }

  #emitRebirth(generation: SpanRef, signal: RebornSignal): void {
    const span = { spanId: newSpanId(), parentSpanId: generation.spanId };
    const newProps = "newProps" in signal ? encodedFields("newProps", signal.newProps) : {};
    this.#scope.emit(EVENTS.AGENT_REBORN, span, { generationId: this.#scope.generation.id, ...newProps });
  }

  #memory(): unknown {
    return JSON.parse(this.#scope.memory.text());
  }

  #complete(result: Result): void {
    const scope = this.#scope;
    const value = encodeValue(result);
    const encoded = scope.run.redaction?.encoded(value) ?? value;
    if ("tombstone" in encoded) {
      // The agent has done its work; only its result cannot be brought back.
      scope.journalEnd("completed", () => scope.frame.complete("null", UNRECORDED));
    } else {
      scope.journalEnd("completed", () => scope.frame.complete(encoded.text, encoded.types ?? undefined));
    }
    if (scope.run.observed) this.#emitEnd({ ...resultFields(result), success: true });
    this.#close();
  }

  #fail(error: unknown): void {
    const scope = this.#scope;
    scope.markPropagated(error);
    const info = scope.recordable(errorInfoText(error));
    scope.journalEnd("failed", () => scope.frame.endFailed(info));
    if (scope.run.observed) this.#emitEnd({ error: toErrorInfo(error), success: false });
    this.#close();
    const { frame } = scope;
    this.#parent?.scope.remember(error, () => frame.markFrameStopped());
  }

  #emitEnd(fields: object): void {
    this.#scope.emit(EVENTS.AGENT_END, this.#span, {
      ...this.#describe(),
      ...fields,
      duration: performance.now() - this.#startedAt,
      generationCount: this.#generations,
    });
  }

  /** What both events of the agent tell; made when somebody listens, who may have come late. */
  #describe(): object {
    const { props, settings } = this.#spec;
    const { callId } = this.#scope;
    this.#about ??= { ...propsFields(props), inputHash: this.#inputHash, callId, maxReborns: settings.maxReborns };
    return this.#about;
  }

  #close(): void {
    this.#scope.close();
  }
}

function propsFields(props: unknown): object {
  return encodedFields("props", props);
}

function resultFields(result: unknown): object {
  const encoded = encodeValue(result);
  if ("tombstone" in encoded) return { tombstone: `${encoded.tombstone.path}: ${encoded.tombstone.reason}` };
  const value = { result: JSON.parse(encoded.text) as unknown };
  return encoded.types === null ? value : { ...value, resultTypes: JSON.parse(encoded.types) as unknown };
}
