/** What the command line ends with. */
export const EXIT = {
  ok: 0,
  /** Two things differ, or a log is not right. */
  found: 1,
  /** The command line is wrong. */
  usage: 2,
  /** An input cannot be read, or is not what it should be; or an output cannot be written. */
  input: 3,
  /** A fault of the program. */
  internal: 70,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command line is wrong. */
export class UsageError extends Error {}

/** An input or output is. */
export class InputError extends Error {}
