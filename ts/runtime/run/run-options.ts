import { checkOptionNames, type OptionNames } from "../../errors/option-names.js";
import { kindOf } from "../../errors/received.js";
import type { Redactor } from "../../redact/redactor.js";
import type { RedactOptions } from "../../redact/rules.js";
import type { Miss } from "../../types/miss.js";
import type { ModelAdapter } from "../../types/model.js";
import type { ReplayReport } from "../../types/report.js";
import type { AgentSnapshot } from "../../types/snapshot.js";
import type { ErrorClass } from "../../types/error-class.js";
import { checkErrorClasses } from "../../values/error-classes.js";
import type { Class } from "../../values/inexact.js";
import type { NormalizeRule } from "../../values/normalize.js";
import type { EventSink } from "../scope/emitter.js";
import type { NetworkOptions } from "../scope/network.js";

/** How a run ended. */
export interface RunEnd {
  /** The error that the run ended with. If the function had returned by then, `runWith` did not throw it. */
  readonly error?: unknown;
}

export interface RunWithOptions<Props = unknown> extends NetworkOptions {
  /** The argument of the function. */
  initialProps?: Props;
  /** The snapshot to replay: calls that have a recorded answer are not executed again. */
  snapshot?: AgentSnapshot;
  /** True if the run is journaled and can be dumped. Default: true, unless NODE_ENV is "production". */
  enableSnapshot?: boolean;
  /** Receives the run's events, instead of the global bus. */
  eventBus?: EventSink;
  /** The model of agents without a model of their own. */
  model?: ModelAdapter;
  /** Models by the ids that agents use. */
  modelRegistry?: Record<string, ModelAdapter>;
  /** Joins the run to a trace. */
  trace?: { traceId?: string; parentSpanId?: string; attributes?: Record<string, unknown> };
  /** Aborts the run's agents. */
  signal?: AbortSignal;
  /** Maximal depth of nested agents, from 1 to 999. Default: 50. */
  maxDepth?: number;
  /**
   * - `"resume"` (default with a snapshot): calls with a recorded answer are replayed, all others are executed.
   * - `"replay"`: no call is executed. A call without a recorded answer fails with a ReplayMissError.
   * - `"live"` (default without a snapshot): all calls are executed, and a snapshot is ignored.
   */
  mode?: "live" | "resume" | "replay";
  /** With "resume": decides for each call without a recorded answer if it is executed or fails. Default: executed. */
  onMiss?: (miss: Miss) => "live" | "error";
  /**
   * For sub-agents that ended in the recording: `"rerun"` runs their handlers against the recording, so that changed
   * code takes effect; `"reuse"` returns their recorded result. Default: `"rerun"`.
   */
  completedFrames?: "rerun" | "reuse";
  /** Receives the report of replayed and executed calls at the end of the run. */
  onReport?: (report: ReplayReport) => void;
  /**
   * Called in the context of the run when it has ended: with the function, or, if that returned a stream, when the program
   * has read or left the stream. `dumpSnapshot()` returns the whole run here.
   */
  onEnd?: (end: RunEnd) => void | Promise<void>;
  /**
   * Leaves values that change from run to run, such as ids and times, out of the hashes of requests and props. If a
   * snapshot was recorded with other rules, its hashes are computed again, which needs the recorded requests.
   */
  normalize?: readonly NormalizeRule[];
  /**
   * Replaces secrets in everything that is recorded: requests, outputs, failures, memory, events. The agent's data and
   * the sent requests stay unchanged. `true` uses the built-in rules; options set your own rules and key. A snapshot
   * that was recorded with other rules is rejected.
   */
  redact?: boolean | RedactOptions | Redactor;
  /**
   * Classes whose instances in requests and props have no state but their enumerable fields, so that their hash covers
   * them. Without it, an instance is covered only if its source text shows no private members and no accessors.
   */
  exact?: readonly Class[];
  /** True if snapshots contain the requests, which explain a miss. Default: true. */
  requests?: boolean;
  /**
   * For recorded failures: `"replay"` replays them, `"retry"` executes their calls again. With `"auto"`, a call is
   * executed again if its failure ended the run; handled failures are replayed. Default: `"auto"`, and `"replay"` with
   * the mode "replay".
   */
  failures?: "auto" | "replay" | "retry";
  /**
   * The memory that frames start with: `"start"` is their original memory, `"dump"` the memory at the time of the
   * dump. `"auto"` is the original memory if the frame has calls to replay, otherwise the dumped one. Default:
   * `"auto"`, and `"start"` with the mode "replay".
   */
  memory?: "auto" | "start" | "dump";
  /**
   * Classes that replayed failures come back as, such as `[OpenAI.RateLimitError, OutOfStock]`. The error classes among
   * the static members of a class count too, so `[OpenAI]` names all errors of that client. A class is found by its name
   * and the names of its ancestors, and no constructor runs. The errors of JavaScript, DOMException and the errors of this
   * package always come back as themselves. Others come back as their nearest known ancestor, and the report lists them
   * in `incompleteErrors`.
   */
  errors?: readonly ErrorClass[];
}

/** The maximal depth of frames in a snapshot, including the root. */
const MAX_FRAMES_DEEP = 999;

const CHOICES: { readonly [Name in "mode" | "completedFrames" | "failures" | "memory"]: readonly string[] } = {
  mode: ["live", "resume", "replay"],
  completedFrames: ["rerun", "reuse"],
  failures: ["auto", "replay", "retry"],
  memory: ["auto", "start", "dump"],
};

const NAMES: OptionNames<RunWithOptions> = {
  initialProps: true,
  snapshot: true,
  enableSnapshot: true,
  eventBus: true,
  model: true,
  modelRegistry: true,
  trace: true,
  signal: true,
  maxDepth: true,
  mode: true,
  onMiss: true,
  completedFrames: true,
  onReport: true,
  onEnd: true,
  normalize: true,
  redact: true,
  exact: true,
  requests: true,
  failures: true,
  memory: true,
  errors: true,
  network: true,
  allowHosts: true,
};

/** @throws TypeError, RangeError if an option is invalid, or options contradict each other. */
export function checkOptions(options: RunWithOptions): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`runWith: options must be an object, received ${kindOf(options)}`);
  }
  checkOptionNames("runWith: options", options, NAMES);
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
  checkErrorClasses(options.errors, "runWith: options.errors");
  const { mode, snapshot, onMiss, eventBus } = options;
  for (const name of ["onMiss", "onReport", "onEnd"] as const) {
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
    throw new TypeError(`runWith: options.onMiss requires options.mode "resume", received "${mode}"`);
  }
}
