import { checkOptionNames, type OptionNames } from "../../errors/option-names.js";
import { kindOf } from "../../errors/received.js";
import type { Redactor } from "../../redact/redactor.js";
import type { RedactOptions } from "../../redact/rules.js";
import type { Miss } from "../../types/miss.js";
import type { ModelAdapter } from "../../types/model.js";
import type { ReplayReport } from "../../types/report.js";
import type { AgentSnapshot } from "../../types/snapshot.js";
import type { NormalizeRule } from "../../values/normalize.js";
import type { EventSink } from "../scope/run-state.js";

export interface RunWithOptions<Props = unknown> {
  /** Given to the function. */
  initialProps?: Props;
  /** Replays from this snapshot: what had finished is not called again. */
  snapshot?: AgentSnapshot;
  /** True if the run is journaled and can be dumped. Default: true, unless NODE_ENV is "production". */
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
  normalize: true,
  redact: true,
  requests: true,
  failures: true,
  memory: true,
};

/** @throws TypeError, RangeError for options that are none, or do not go together. */
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
