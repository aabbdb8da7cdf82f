import { messageOf, named, quoted, RewindError, type CauseOptions, type ErrorGuard } from "./base.js";

/** An agent has no model. */
export class ModelNotFoundError extends RewindError {
  readonly agentId: string | undefined;

  constructor(agentId?: string) {
    super(
      `${agentId === undefined ? "The agent" : `Agent "${agentId}"`} has no model. ` +
        "Pass one to createAgent({ model }) or to runWith(fn, { model }).",
      "ERR_REWIND_MODEL_NOT_FOUND",
    );
    this.agentId = agentId;
  }
}

export const isModelNotFoundError: ErrorGuard<ModelNotFoundError> = named(ModelNotFoundError, "ModelNotFoundError");

/** An agent names a model that is not registered. */
export class ModelRegistryNotFoundError extends RewindError {
  readonly modelId: string;
  readonly agentId: string;
  /** Ids of the registered models. */
  readonly registeredIds: readonly string[] | undefined;

  constructor(modelId: string, agentId: string, registeredIds?: readonly string[]) {
    const known = registeredIds?.length ? `Registered: ${quoted(registeredIds)}` : "No model is registered";
    super(
      `Agent "${agentId}" asks for the model "${modelId}", which is not registered. ${known}. ` +
        `Add it to runWith(fn, { modelRegistry: { ${JSON.stringify(modelId)}: … } }).`,
      "ERR_REWIND_MODEL_NOT_REGISTERED",
    );
    this.modelId = modelId;
    this.agentId = agentId;
    this.registeredIds = registeredIds;
  }
}

export const isModelRegistryNotFoundError: ErrorGuard<ModelRegistryNotFoundError> = named(
  ModelRegistryNotFoundError,
  "ModelRegistryNotFoundError",
);

/** A model adapter threw; `cause` is the thrown value. */
export class ModelCallError extends RewindError {
  /** Id of the model adapter. */
  readonly modelId: string;
  readonly provider: string | undefined;
  readonly agentId: string | undefined;

  constructor(
    modelId: string,
    cause: unknown,
    { provider, agentId }: { provider?: string | undefined; agentId?: string | undefined } = {},
  ) {
    const caller = agentId === undefined ? "" : ` by agent "${agentId}"`;
    super(`The call of the model "${modelId}"${caller} failed: ${messageOf(cause)}`, "ERR_REWIND_MODEL_CALL", {
      cause,
    });
    this.modelId = modelId;
    this.provider = provider;
    this.agentId = agentId;
  }
}

export const isModelCallError: ErrorGuard<ModelCallError> = named(ModelCallError, "ModelCallError");

/** No answer of the model matched the schema, and no attempts are left. */
export class AttemptsExhaustedError extends RewindError {
  readonly agentId: string;
  /** Number of answers that were tried. */
  readonly attempts: number;
  /** The faults of the last answer. */
  readonly faults: readonly string[];
  /** The last answer. */
  readonly rawText: string | undefined;

  constructor(
    agentId: string,
    attempts: number,
    faults: readonly string[],
    { rawText, ...options }: CauseOptions & { rawText?: string } = {},
  ) {
    super(
      `Agent "${agentId}" got no answer that matches its schema in ${attempts} attempt${attempts === 1 ? "" : "s"}. ` +
        `Faults of the last answer: ${faults.length === 0 ? "unknown" : faults.join("; ")}. ` +
        "Loosen the schema, describe the expected answer in the prompt, or raise maxRetries of createAgent().",
      "ERR_REWIND_ATTEMPTS_EXHAUSTED",
      options,
    );
    this.agentId = agentId;
    this.attempts = attempts;
    this.faults = faults;
    this.rawText = rawText;
  }
}

export const isAttemptsExhaustedError: ErrorGuard<AttemptsExhaustedError> = named(
  AttemptsExhaustedError,
  "AttemptsExhaustedError",
);

/** The model called tools turn after turn and did not answer. */
export class TurnBudgetExceededError extends RewindError {
  readonly agentId: string;
  readonly maxTurnSteps: number;

  constructor(agentId: string, maxTurnSteps: number) {
    super(
      `Agent "${agentId}" had no answer after ${maxTurnSteps} turns. ` +
        "Look for a tool that the model calls again and again, or raise maxTurnSteps of createAgent().",
      "ERR_REWIND_TURN_BUDGET",
    );
    this.agentId = agentId;
    this.maxTurnSteps = maxTurnSteps;
  }
}

export const isTurnBudgetExceededError: ErrorGuard<TurnBudgetExceededError> = named(
  TurnBudgetExceededError,
  "TurnBudgetExceededError",
);

/** An agent started over too often. */
export class MaxRebornsExceededError extends RewindError {
  readonly agentId: string;
  readonly maxReborns: number;

  constructor(agentId: string, maxReborns: number) {
    super(
      `Agent "${agentId}" was reborn more than ${maxReborns} times. ` +
        "Look for a handler that always returns reborn(), or raise maxReborns of createAgent().",
      "ERR_REWIND_MAX_REBORNS",
    );
    this.agentId = agentId;
    this.maxReborns = maxReborns;
  }
}

export const isMaxRebornsExceededError: ErrorGuard<MaxRebornsExceededError> = named(
  MaxRebornsExceededError,
  "MaxRebornsExceededError",
);
