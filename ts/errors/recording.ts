import { hasName, named, RewindError, type CauseOptions } from "./base.js";

/** A recording's file cannot be read. */
export class InvalidRecordingError extends RewindError {
  static {
    named(this, "InvalidRecordingError");
  }

  readonly path: string;
  /** From 1. */
  readonly line: number;

  constructor(path: string, line: number, message: string, options: CauseOptions = {}) {
    super(
      `${path}:${line}: ${message}. Repair the line, or record the test anew.`,
      "ERR_REWIND_INVALID_RECORDING",
      options,
    );
    this.path = path;
    this.line = line;
  }
}

export function isInvalidRecordingError(value: unknown): value is InvalidRecordingError {
  return hasName(value, "InvalidRecordingError");
}

/** There is no recording of a test, and none may be made. */
export class RecordingMissingError extends RewindError {
  static {
    named(this, "RecordingMissingError");
  }

  readonly test: string;
  readonly path: string;

  constructor(test: string, path: string, call: string, options: CauseOptions = {}) {
    super(
      `There is no recording of the test "${test}", which asked for ${call}; and none is made here, ` +
        `as no snapshot would be. Run the test where recordings are made (not under CI), and commit ${path}.`,
      "ERR_REWIND_RECORDING_MISSING",
      options,
    );
    this.test = test;
    this.path = path;
  }
}

export function isRecordingMissingError(value: unknown): value is RecordingMissingError {
  return hasName(value, "RecordingMissingError");
}

/** A test asked for something that its recording does not have. */
export class RecordingStaleError extends RewindError {
  static {
    named(this, "RecordingStaleError");
  }

  readonly test: string;
  readonly path: string;

  constructor(test: string, path: string, why: string, options: CauseOptions = {}) {
    super(
      `The recording of the test "${test}" is stale. ${why}\nIf the change is meant, record it anew with ` +
        `\`vitest -u\` (${path}).`,
      "ERR_REWIND_RECORDING_STALE",
      options,
    );
    this.test = test;
    this.path = path;
  }
}

export function isRecordingStaleError(value: unknown): value is RecordingStaleError {
  return hasName(value, "RecordingStaleError");
}

/** A recording would hold a secret. It was not written. */
export class SecretInRecordingError extends RewindError {
  static {
    named(this, "SecretInRecordingError");
  }

  readonly path: string;
  /** What was found, and in which lines, from 1. */
  readonly secrets: readonly { readonly rule: string; readonly line: number }[];

  constructor(path: string, secrets: readonly { readonly rule: string; readonly line: number }[]) {
    const list = secrets.map(({ rule, line }) => `${rule} in line ${line}`).join(", ");
    super(
      `The recording ${path} would hold secrets: ${list}. It was not written. ` +
        "Keep them out of what is sent and answered, such as prompts, tool outputs and URLs.",
      "ERR_REWIND_SECRET_IN_RECORDING",
    );
    this.path = path;
    this.secrets = secrets;
  }
}

export function isSecretInRecordingError(value: unknown): value is SecretInRecordingError {
  return hasName(value, "SecretInRecordingError");
}
