import type { ErrorInfo } from "../types/snapshot.js";
import { withoutPause } from "../integration/index.js";
import { fromErrorInfo, toErrorInfo } from "../values/error-info.js";

const MARKER = "vercel.ai.error";

/**
 * Restores the symbols by which the AI SDK recognizes its errors. A recording does not keep them, and without them the
 * SDK would not retry a call that it retried when recorded. Errors of live calls have them already.
 * @param askedAgain true to let the SDK retry the call without its pause.
 */
export function revivedErrors(error: unknown, askedAgain = false): unknown {
  const seen = new Set<unknown>();
  for (let at: unknown = error; isError(at) && !seen.has(at); at = at.cause) {
    seen.add(at);
    if (!at.name.startsWith("AI_")) continue;
    if (askedAgain && at.name === "AI_APICallError") skipPause(at);
    for (const marker of [MARKER, `${MARKER}.${at.name}`]) {
      const symbol = Symbol.for(marker);
      if (!(symbol in at)) Object.defineProperty(at, symbol, { value: true });
    }
  }
  return error;
}

function skipPause(error: Error & { responseHeaders?: Record<string, string> }): void {
  error.responseHeaders = Object.fromEntries(withoutPause(new Headers(error.responseHeaders)));
}

/** A recorded stream part of type "error". */
interface RecordedErrorPart {
  readonly type: "error";
  readonly errorInfo: ErrorInfo;
}

/** Converts a stream part for the recording: an error becomes data. */
export function recordedPart(part: object): object {
  const { type, error } = part as { type?: unknown; error?: unknown };
  if (type !== "error" || !isError(error)) return part;
  const { error: _error, ...rest } = part as { error: unknown };
  return { ...rest, errorInfo: toErrorInfo(error) };
}

export function revivedPart(part: object, restoreError: (info: ErrorInfo) => unknown = fromErrorInfo): object {
  if (!("errorInfo" in part)) return part;
  const { errorInfo, ...rest } = part as RecordedErrorPart;
  return { ...rest, error: revivedErrors(restoreError(errorInfo)) };
}

function isError(value: unknown): value is Error {
  return typeof value === "object" && value !== null && "message" in value && typeof (value as Error).name === "string";
}
