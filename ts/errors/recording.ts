import { named, RewindError, type CauseOptions, type ErrorGuard } from "./base.js";
import { printable } from "./printable.js";

/** True for errors that are about the recording of a test, not about the test. */
export function isRecordingError(error: unknown): boolean {
  return (
    error instanceof RewindError && /^(?:InvalidRecording|Recording|SecretInRecording|Unrecorded)/.test(error.name)
  );
}

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

  constructor(test: string, path: string, call: string) {
    super(
      `There is no recording of the test "${test}", which executed ${call}. Recordings are not created in CI. ` +
        `Run this test locally once and commit ${path}.`,
      "ERR_REWIND_RECORDING_MISSING",
    );
    this.test = test;
    this.path = path;
  }
}

export const isRecordingMissingError: ErrorGuard<RecordingMissingError> = named(
  RecordingMissingError,
  "RecordingMissingError",
);

/** A call that a recording does not answer. */
export interface StaleCall {
  readonly kind: string;
  /** The name of the model, tool or host. */
  readonly name: string;
  readonly callId: string;
  /** JSON pointer of the first difference in the request. */
  readonly pointer?: string | undefined;
  /** The recorded value there, as JSON text of at most 80 characters. */
  readonly before?: string | undefined;
  /** The value there now. */
  readonly after?: string | undefined;
  /** The command that accepts the change. */
  readonly accept: string;
}

/** A test made a request that its recording does not contain. */
export class RecordingStaleError extends RewindError {
  readonly test: string;
  readonly path: string;
  readonly call: StaleCall;
  /** The changed lines: `- ` is recorded, `+ ` is requested now, two spaces are context. */
  declare readonly lines: readonly string[];
  /** The message without the changed lines. */
  declare readonly summary: string;

  constructor(test: string, path: string, why: string, lines: readonly string[], call: StaleCall) {
    const accept = `If the change is intended, accept it with \`${call.accept}\`.`;
    const changed = lines.length === 0 ? "\n" : `\n\n${lines.join("\n")}\n\n`;
    super(why + changed + accept, "ERR_REWIND_RECORDING_STALE");
    this.test = test;
    this.path = path;
    this.call = call;
    // Not shown again by what prints the fields of errors.
    Object.defineProperty(this, "lines", { value: lines.map((line) => printable(line, "\t")) });
    Object.defineProperty(this, "summary", { value: printable(`${why}\n${accept}`) });
  }
}

export const isRecordingStaleError: ErrorGuard<RecordingStaleError> = named(RecordingStaleError, "RecordingStaleError");

/** A secret in a recording. */
export interface FoundSecret {
  /** The redaction rule that found it. */
  readonly rule: string;
  /** The callId of the call or frame that contains it. */
  readonly place: string;
  /** JSON pointer in that call, such as `/request/input/body/messages/0/content`. */
  readonly pointer: string;
}

/** A recording was not written, because it would contain a secret. */
export class SecretInRecordingError extends RewindError {
  readonly path: string;
  readonly secrets: readonly FoundSecret[];

  constructor(path: string, secrets: readonly FoundSecret[]) {
    const list = secrets.map(({ rule, place, pointer }) => `\n  ${rule} in ${place} at ${pointer}`).join("");
    const rules = [...new Set(secrets.map(({ rule }) => JSON.stringify(rule)))].join(", ");
    super(
      `The recording ${path} was not written, because it would contain secrets:${list}\n` +
        "Keep secrets out of prompts, tool inputs and outputs, and URLs. " +
        `If the values are made up, allow them with the option \`allowSecrets: [${rules}]\`.`,
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
