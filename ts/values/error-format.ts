// What both directions between errors and data share.

import type { ErrorInfo } from "../types/snapshot.js";

/** Longest chain of causes that is recorded. */
export const MAX_CAUSES = 16;
/** Largest number of recorded errors, including causes and the errors of AggregateErrors. */
export const MAX_ERRORS = 128;

/** `name` of a thrown value that is not an error. */
export const NOT_AN_ERROR = "NonError";

/** Fields that have a place of their own in an ErrorInfo. */
export const STANDARD_FIELDS: readonly string[] = ["name", "message", "stack", "cause"];

/** What a restored error lacks. */
type Losses = Pick<ErrorInfo, "class" | "tombstones">;

const losses = new WeakMap<object, Losses>();

/** Remembers what a restored error lacks, so that a recording of it says the same as the one that it came from. */
export function rememberLosses(restored: object, lacks: Losses): void {
  losses.set(restored, lacks);
}

export function lossesOf(error: object): Losses | undefined {
  return losses.get(error);
}

export function asText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "(a value that cannot be shown)";
  }
}
