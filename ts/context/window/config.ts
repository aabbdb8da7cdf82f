import { checkObject } from "../../errors/received.js";
import { defined } from "../../values/defined.js";

/** When `process` captures the messages: before they are optimized, after, or both. */
export type SnapshotTiming = "pre_optimization" | "post_optimization" | "both";

/** The boundaries at which the monitor writes: all, after tool results, when the budget overflows, or only on demand. */
export type MonitorFrequency = "turn" | "tool_call" | "overflow" | "manual";

/** How `process` makes messages fit. `non_destructive` does not change them. */
export type OptimizerStrategy = "truncate" | "sliding_window" | "prune_tools" | "non_destructive" | "smart";

export interface ManagerConfig {
  /** @default "post_optimization" */
  readonly snapshotTiming: SnapshotTiming;
  /** @default false */
  readonly monitorEnabled: boolean;
  /** @default "./context.txt" */
  readonly monitorPath: string;
  /** @default "human" */
  readonly monitorFormat: "human" | "json";
  /** @default "turn" */
  readonly monitorFrequency: MonitorFrequency;
  /** `"sync"` writes before the capture returns. @default "async" */
  readonly monitorWriteMode: "sync" | "async";
  /** Removes secrets from the monitor files, with the manager's redactor or else the rules of `agent-rewind/redact`. @default true */
  readonly redactSensitive: boolean;
  /** Lets `process` change messages. @default true */
  readonly autoCompact: boolean;
  /** Share of the usable budget at which `process` starts to optimize, and to which it reduces the messages. @default 0.8 */
  readonly compactThreshold: number;
  /** @default "smart" */
  readonly strategy: OptimizerStrategy;
  /** Tokens reserved for the answer. @default 8000 */
  readonly outputReserve: number;
  /** @default 5 */
  readonly keepRecentTurns: number;
  /** Maximum tokens of one tool output. `prune_tools` shortens longer ones. @default 10000 */
  readonly toolOutputMax: number;
}

const DEFAULTS: ManagerConfig = {
  snapshotTiming: "post_optimization",
  monitorEnabled: false,
  monitorPath: "./context.txt",
  monitorFormat: "human",
  monitorFrequency: "turn",
  monitorWriteMode: "async",
  redactSensitive: true,
  autoCompact: true,
  compactThreshold: 0.8,
  strategy: "smart",
  outputReserve: 8000,
  keepRecentTurns: 5,
  toolOutputMax: 10_000,
};

const CHOICES: { readonly [Key in keyof ManagerConfig]?: readonly string[] } = {
  snapshotTiming: ["pre_optimization", "post_optimization", "both"],
  monitorFormat: ["human", "json"],
  monitorFrequency: ["turn", "tool_call", "overflow", "manual"],
  monitorWriteMode: ["sync", "async"],
  strategy: ["truncate", "sliding_window", "prune_tools", "non_destructive", "smart"],
};

/**
 * Returns a complete, frozen configuration. Missing fields get their defaults.
 * @throws TypeError for an unknown field or a wrong type, RangeError for a value out of range.
 */
export function createManagerConfig(config: Partial<ManagerConfig> = {}): ManagerConfig {
  checkObject("createManagerConfig: config", config);
  for (const [key, value] of Object.entries(config)) check(key, value);
  return Object.freeze({ ...DEFAULTS, ...defined(config) });
}

function check(key: string, value: unknown): void {
  if (!Object.hasOwn(DEFAULTS, key)) {
    throw new TypeError(
      `createManagerConfig: unknown field ${JSON.stringify(key)}; known fields: ${Object.keys(DEFAULTS).join(", ")}`,
    );
  }
  if (value === undefined) return;
  const field = key as keyof ManagerConfig;
  const wanted = typeof DEFAULTS[field];
  if (typeof value !== wanted) throw new TypeError(`createManagerConfig: ${key} must be a ${wanted}`);
  const choices = CHOICES[field];
  if (choices !== undefined && !choices.includes(value as string)) {
    throw new RangeError(
      `createManagerConfig: ${key} must be one of ${choices.join(", ")}, received ${JSON.stringify(value)}`,
    );
  }
  if (typeof value !== "number") return;
  const fits = field === "compactThreshold" ? value > 0 && value <= 1 : Number.isInteger(value) && value >= 0;
  if (!fits) {
    const range = field === "compactThreshold" ? "above 0 and at most 1" : "a whole number, 0 or more";
    throw new RangeError(`createManagerConfig: ${key} must be ${range}, received ${value}`);
  }
}

type Read = (text: string) => ManagerConfig[keyof ManagerConfig];

const asIs: Read = (text) => text;
const toNumber: Read = (text) => (text.trim() === "" ? Number.NaN : Number(text));

/** The variables, without the prefix `AGENT_REWIND_CONTEXT_`, and the fields that they set. */
const VARIABLES: readonly (readonly [name: string, field: keyof ManagerConfig, read: Read])[] = [
  ["MONITOR", "monitorEnabled", toBoolean],
  ["MONITOR_PATH", "monitorPath", asIs],
  ["MONITOR_FORMAT", "monitorFormat", asIs],
  ["MONITOR_FREQUENCY", "monitorFrequency", asIs],
  ["MONITOR_WRITE_MODE", "monitorWriteMode", asIs],
  ["REDACT", "redactSensitive", toBoolean],
  ["AUTO_COMPACT", "autoCompact", toBoolean],
  ["THRESHOLD", "compactThreshold", toNumber],
  ["STRATEGY", "strategy", asIs],
  ["OUTPUT_RESERVE", "outputReserve", toNumber],
];

/**
 * Reads a configuration from the variables `AGENT_REWIND_CONTEXT_MONITOR`, `…_MONITOR_PATH`, `…_MONITOR_FORMAT`,
 * `…_MONITOR_FREQUENCY`, `…_MONITOR_WRITE_MODE`, `…_REDACT`, `…_AUTO_COMPACT`, `…_THRESHOLD`, `…_STRATEGY` and
 * `…_OUTPUT_RESERVE`. Fields of `config` take precedence.
 * @throws RangeError that names the variable if its value is invalid. Errors of `createManagerConfig` for `config`.
 */
export function managerConfigFromEnv(
  config: Partial<ManagerConfig> = {},
  env: Readonly<Record<string, string | undefined>> = process.env,
): ManagerConfig {
  checkObject("managerConfigFromEnv: env", env);
  const found: Record<string, unknown> = {};
  for (const [name, field, read] of VARIABLES) {
    const variable = `AGENT_REWIND_CONTEXT_${name}`;
    const text = env[variable];
    if (text === undefined || text === "") continue;
    try {
      const value = read(text);
      check(field, value);
      found[field] = value;
    } catch (cause) {
      throw new RangeError(`managerConfigFromEnv: ${variable}=${text} is not a valid value`, { cause });
    }
  }
  return createManagerConfig({ ...found, ...config });
}

function toBoolean(text: string): boolean {
  const lower = text.toLowerCase();
  if (["1", "true", "yes", "on"].includes(lower)) return true;
  if (["0", "false", "no", "off"].includes(lower)) return false;
  throw new RangeError(`${text} is not a boolean; use 1, true, yes, on, 0, false, no or off`);
}
