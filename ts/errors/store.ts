import { messageOf, named, RewindError, type ErrorGuard } from "./base.js";

/** The tables of a store were written by a newer version of this package. */
export class StoreVersionError extends RewindError {
  /** Version of the tables. */
  readonly found: number;
  /** The newest version that this package supports. */
  readonly supported: number;

  constructor(found: number, supported: number) {
    super(
      `The tables of the store have version ${found}; this version of agent-rewind supports ${supported}. ` +
        "Nothing was written. Update agent-rewind.",
      "ERR_REWIND_STORE_VERSION",
    );
    this.found = found;
    this.supported = supported;
  }
}

export const isStoreVersionError: ErrorGuard<StoreVersionError> = named(StoreVersionError, "StoreVersionError");

/** A store cannot be opened here. */
export class StoreOpenError extends RewindError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, "ERR_REWIND_STORE_OPEN", options);
  }
}

export const isStoreOpenError: ErrorGuard<StoreOpenError> = named(StoreOpenError, "StoreOpenError");

/** Another process executes the run. */
export class RunLeasedError extends RewindError {
  readonly id: string;
  /** The process that executes the run, such as "worker-3:4711". */
  readonly owner: string;
  /** When its lease ends, unless it renews the lease. */
  readonly until: Date;

  constructor(id: string, owner: string, until: Date) {
    super(
      `The run ${JSON.stringify(id)} is executed by ${owner}, whose lease ends at ${until.toISOString()} unless it is ` +
        "renewed. Try again later.",
      "ERR_REWIND_RUN_LEASED",
    );
    this.id = id;
    this.owner = owner;
    this.until = until;
  }
}

export const isRunLeasedError: ErrorGuard<RunLeasedError> = named(RunLeasedError, "RunLeasedError");

/** The run was recorded by another version of the program, and the options refuse to continue it. */
export class RunVersionError extends RewindError {
  readonly id: string;
  readonly recorded: string;
  readonly current: string;

  constructor(id: string, recorded: string, current: string) {
    super(
      `The run ${JSON.stringify(id)} was recorded by version ${JSON.stringify(recorded)} of the program, and this is ` +
        `${JSON.stringify(current)}. Run the old version, or pass otherVersion: "continue".`,
      "ERR_REWIND_RUN_VERSION",
    );
    this.id = id;
    this.recorded = recorded;
    this.current = current;
  }
}

export const isRunVersionError: ErrorGuard<RunVersionError> = named(RunVersionError, "RunVersionError");

/** The process no longer has the lease of its run, or cannot reach the store to renew it. */
export class LeaseLostError extends RewindError {
  readonly id: string;

  constructor(id: string, why: string, options: { cause?: unknown } = {}) {
    const { cause } = options;
    super(
      `The lease of the run ${JSON.stringify(id)} is lost: ${why}${cause === undefined ? "" : ` (${messageOf(cause)})`}. ` +
        "The run was stopped here, and nothing more of it is written. Another process can resume it.",
      "ERR_REWIND_LEASE_LOST",
      options,
    );
    this.id = id;
  }
}

export const isLeaseLostError: ErrorGuard<LeaseLostError> = named(LeaseLostError, "LeaseLostError");

export interface UncertainEffect {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly idempotencyKey: string;
  /** Absent if the recording does not contain it. */
  readonly startedAt?: Date | undefined;
}

/** A call with `effect: "once"` had started and nothing shows if it took effect. It is not executed again. */
export class UncertainEffectError extends RewindError implements UncertainEffect {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly idempotencyKey: string;
  readonly startedAt: Date | undefined;

  constructor(effect: UncertainEffect, options: { cause?: unknown } = {}) {
    const { callId, tool, startedAt, idempotencyKey } = effect;
    const when = startedAt === undefined ? "earlier" : `at ${startedAt.toISOString()}`;
    const verified = "cause" in options ? ` Its \`verify\` failed: ${messageOf(options.cause)}.` : "";
    super(
      `${callId}: the call of "${tool}" started ${when}, and nothing shows if it took effect, so it is not executed ` +
        `again.${verified} Look for the idempotency key ${idempotencyKey} in the service that it called. Then settle ` +
        'the call: store.settle(id, callId, { output }) or store.settle(id, callId, "not-done").',
      "ERR_REWIND_UNCERTAIN_EFFECT",
      options,
    );
    this.callId = callId;
    this.tool = tool;
    this.input = effect.input;
    this.idempotencyKey = idempotencyKey;
    this.startedAt = startedAt;
  }
}

export const isUncertainEffectError: ErrorGuard<UncertainEffectError> = named(
  UncertainEffectError,
  "UncertainEffectError",
);
