/** Exit codes. */
export const EXIT = {
  ok: 0,
  /** A difference, or a problem in a log. */
  found: 1,
  /** Invalid command line. */
  usage: 2,
  /** An input cannot be read or is invalid, or an output cannot be written. */
  input: 3,
  /** Internal error. */
  internal: 70,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command line is invalid. */
export class UsageError extends Error {}

/** An input or output cannot be used. */
export class InputError extends Error {}
