import type { InFlightCall } from "../../types/report.js";
import type { Scope } from "../scope/scope.js";
import { warn } from "../../errors/printable.js";

/** A warning names at most this many calls. */
const MAX_NAMED = 5;

/**
 * Reports the calls that had started and not ended when the recording was taken. They may have taken effect, and are
 * executed again if the program requests them again.
 */
export function reportInFlight({ run, frame }: Scope): void {
  const calls = JSON.parse(frame.inFlight()) as InFlightCall[];
  if (calls.length === 0) return;
  run.report.inFlight.push(...calls);
  const named = calls.slice(0, MAX_NAMED).map(({ callId, idempotencyKey }) => `${callId} (${idempotencyKey})`);
  const more = calls.length > MAX_NAMED ? `, and ${calls.length - MAX_NAMED} more` : "";
  warn(
    `calls in flight when the recording was taken: ${named.join(", ")}${more}. They may have taken ` +
      "effect. They are executed again. The ids in parentheses are their idempotency keys, the same both times.",
  );
}
