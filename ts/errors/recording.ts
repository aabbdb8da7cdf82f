import { named, RewindError, type CauseOptions, type ErrorGuard } from "./base.js";

/** A file of a recording is invalid. */
export class InvalidRecordingError extends RewindError {
  readonly path: string;
  /** Number of the line, from 1. */
  readonly line: number;

  constructor(path: string, line: number, message: string, options: CauseOptions = {}) {
    super(
      `${path}:${line}: ${message}. Fix the line, or record the test again.`,
      "ERR_REWIND_INVALID_RECORDING",
      options,
    );
    this.path = path;
    this.line = line;
  }
}

export const isInvalidRecordingError: ErrorGuard<InvalidRecordingError> = named(
  InvalidRecordingError,
  "InvalidRecordingError",
);

/** A test has no recording, and recordings are not created here. */
export class RecordingMissingError extends RewindError {
  readonly test: string;
  readonly path: string;

  constructor(test: string, path: string, call: string, options: CauseOptions = {}) {
    super(
      `There is no recording of the test "${test}", which executed ${call}. Recordings are not created in CI. ` +
        `Run this test locally once and commit ${path}.`,
      "ERR_REWIND_RECORDING_MISSING",
      options,
    );
    this.test = test;
    this.path = path;
  }
}

export const isRecordingMissingError: ErrorGuard<RecordingMissingError> = named(
  RecordingMissingError,
  "RecordingMissingError",
);

/** A test made a request that its recording does not contain. */
export class RecordingStaleError extends RewindError {
  readonly test: string;
  readonly path: string;

  constructor(test: string, path: string, why: string, options: CauseOptions = {}) {
    super(
      `The recording of the test "${test}" is stale. ${why}\n` +
        `If the change is intended, record it again with \`vitest -u\` (${path}).`,
      "ERR_REWIND_RECORDING_STALE",
      options,
    );
    this.test = test;
    this.path = path;
  }
}

export const isRecordingStaleError: ErrorGuard<RecordingStaleError> = named(RecordingStaleError, "RecordingStaleError");

/** A recording was not written, because it would contain a secret. */
export class SecretInRecordingError extends RewindError {
  readonly path: string;
  /** The rules that found a secret, each with the number of the line, from 1. */
  readonly secrets: readonly { readonly rule: string; readonly line: number }[];

  constructor(path: string, secrets: readonly { readonly rule: string; readonly line: number }[]) {
    const list = secrets.map(({ rule, line }) => `${rule} in line ${line}`).join(", ");
    super(
      `The recording ${path} was not written, because it would contain secrets: ${list}. ` +
        "Keep secrets out of prompts, tool inputs and outputs, and URLs.",
      "ERR_REWIND_SECRET_IN_RECORDING",
    );
    this.path = path;
    this.secrets = secrets;
  }
}

export const isSecretInRecordingError: ErrorGuard<SecretInRecordingError> = named(
  SecretInRecordingError,
  "SecretInRecordingError",
);
