import { type CauseOptions, hasName, messageOf, named, quoted, RewindError } from "./base.js";

/** An agent has no model. */
export class ModelNotFoundError extends RewindError {
  static {
    named(this, "ModelNotFoundError");
  }

  readonly agentId: string | undefined;

  constructor(agentId?: string) {
    super(
      `${agentId === undefined ? "The agent" : `Agent "${agentId}"`} has no model. ` +
        "Give one to createAgent({ model }) or to runWith(fn, { model }).",
      "ERR_REWIND_MODEL_NOT_FOUND",
    );
    this.agentId = agentId;
  }
}

export function isModelNotFoundError(value: unknown): value is ModelNotFoundError {
  return hasName(value, "ModelNotFoundError");
}

/** An agent names a model that is not registered. */
export class ModelRegistryNotFoundError extends RewindError {
  static {
    named(this, "ModelRegistryNotFoundError");
  }

  readonly modelId: string;
  readonly agentId: string;
  /** Ids of the models that are registered. */
  readonly registeredIds: readonly string[] | undefined;

  constructor(modelId: string, agentId: string, registeredIds?: readonly string[]) {
    const known =
      registeredIds === undefined || registeredIds.length === 0
        ? "No model is registered"
        : `Registered are ${quoted(registeredIds)}`;
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

export function isModelRegistryNotFoundError(value: unknown): value is ModelRegistryNotFoundError {
  return hasName(value, "ModelRegistryNotFoundError");
}

/** A model adapter failed; `cause` is what it threw. */
export class ModelCallError extends RewindError {
  static {
    named(this, "ModelCallError");
  }

  /** Id of the model adapter. */
  readonly modelId: string;
  readonly provider: string | undefined;
  readonly agentId: string | undefined;

  constructor(
    modelId: string,
    cause: unknown,
    { provider, agentId }: { provider?: string | undefined; agentId?: string | undefined } = {},
  ) {
    super(
      `The call of the model "${modelId}"${agentId === undefined ? "" : ` by agent "${agentId}"`} failed: ${messageOf(cause)}`,
      "ERR_REWIND_MODEL_CALL",
      { cause },
    );
    this.modelId = modelId;
    this.provider = provider;
    this.agentId = agentId;
  }
}

export function isModelCallError(value: unknown): value is ModelCallError {
  return hasName(value, "ModelCallError");
}

/** No answer of the model fitted the schema, also not when it was asked again. */
export class AttemptsExhaustedError extends RewindError {
  static {
    named(this, "AttemptsExhaustedError");
  }

  readonly agentId: string;
  /** How many answers were tried. */
  readonly attempts: number;
  /** What was wrong with the last answer. */
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
      `Agent "${agentId}" got no answer that fits its schema in ${attempts} attempt${attempts === 1 ? "" : "s"}. ` +
        `Faults of the last one: ${faults.length === 0 ? "unknown" : faults.join("; ")}. ` +
        "Loosen the schema, say in the prompt what is wanted, or raise createAgent's maxRetries.",
      "ERR_REWIND_ATTEMPTS_EXHAUSTED",
      options,
    );
    this.agentId = agentId;
    this.attempts = attempts;
    this.faults = faults;
    this.rawText = rawText;
  }
}

export function isAttemptsExhaustedError(value: unknown): value is AttemptsExhaustedError {
  return hasName(value, "AttemptsExhaustedError");
}

/** The model called tools in turn after turn and gave no answer. */
export class TurnBudgetExceededError extends RewindError {
  static {
    named(this, "TurnBudgetExceededError");
  }

  readonly agentId: string;
  readonly maxTurnSteps: number;

  constructor(agentId: string, maxTurnSteps: number) {
    super(
      `Agent "${agentId}" came to no answer in ${maxTurnSteps} turns. ` +
        "Look for a tool that the model calls again and again, or raise createAgent's maxTurnSteps.",
      "ERR_REWIND_TURN_BUDGET",
    );
    this.agentId = agentId;
    this.maxTurnSteps = maxTurnSteps;
  }
}

export function isTurnBudgetExceededError(value: unknown): value is TurnBudgetExceededError {
  return hasName(value, "TurnBudgetExceededError");
}

/** An agent was reborn too often. */
export class MaxRebornsExceededError extends RewindError {
  static {
    named(this, "MaxRebornsExceededError");
  }

  readonly agentId: string;
  readonly maxReborns: number;

  constructor(agentId: string, maxReborns: number) {
    super(
      `Agent "${agentId}" was reborn more than ${maxReborns} times. ` +
        "Look for a handler that always returns reborn(), or raise createAgent's maxReborns.",
      "ERR_REWIND_MAX_REBORNS",
    );
    this.agentId = agentId;
    this.maxReborns = maxReborns;
  }
}

export function isMaxRebornsExceededError(value: unknown): value is MaxRebornsExceededError {
  return hasName(value, "MaxRebornsExceededError");
}
