import { checkObject } from "../errors/received.js";
import type { OnCallbackError } from "./capture/callbacks.js";
import type { MonitorRedactor } from "./monitor/redactor.js";
import type { ManagerConfig } from "./window/config.js";
import type { ModelLimits } from "./window/models.js";
import type { CountTokens } from "./window/tokens.js";

export interface ContextManagerOptions {
  /** The model of `captureLlmBoundary` and of requests without one. Its limit sets the budget. @default "gpt-4o-mini" */
  readonly model?: string;
  readonly config?: Partial<ManagerConfig>;
  readonly sessionId?: string;
  /** Name of the agent for boundaries outside of runs. */
  readonly agentName?: string;
  /** Context windows in tokens, by the prefix of a model's name. They take precedence over the built-in ones. */
  readonly models?: ModelLimits;
  /** Counts the tokens of a text. By default they are estimated. */
  readonly countTokens?: CountTokens;
  /** Removes secrets from the monitor files. Captures are not changed. */
  readonly redactor?: MonitorRedactor;
  /** Receives errors of callbacks and of the monitor. By default the first one of each is printed by `console.warn`. */
  readonly onError?: OnCallbackError;
  /** Captures the model calls of runs as soon as there is a callback or a monitor. @default true */
  readonly automatic?: boolean;
  /** Number of events that `getHistory` returns at most. @default 100 */
  readonly historyLimit?: number;
}

/** @throws TypeError, RangeError */
export function checkManagerOptions(options: ContextManagerOptions): void {
  checkObject("ContextManager: options", options);
  for (const name of ["model", "sessionId", "agentName"] as const) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== "string") {
      throw new TypeError(`ContextManager: options.${name} must be a string`);
    }
  }
  const { historyLimit = 0 } = options;
  if (!Number.isInteger(historyLimit) || historyLimit < 0) {
    throw new RangeError("ContextManager: options.historyLimit must be a whole number, 0 or more");
  }
}
