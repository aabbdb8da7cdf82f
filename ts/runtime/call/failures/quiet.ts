// A replayed call fails sooner than the recorded one did, perhaps before the program waits for it. Node would end the
// process, although the recorded program went on.

import { ErrorOrigins, type FailedAnswer, type Origin } from "../../scope/error-origins.js";

const replayed = new ErrorOrigins();
const REPLAYED: Origin = { callId: "", within: undefined, replayed: true, markStopped() {}, nameInDump() {} };
/** Errors that runs ended with. The caller of the run must hear of them. */
const reported = new WeakSet<object>();
/** Promises whose rejection was not reported. Node would report later that they are handled after all. */
const kept = new WeakSet<object>();
let isInstalled = false;

/** Prevents that a replayed failure is reported as an unhandled rejection. Live failures are reported as always. */
export function keepQuiet(failed: unknown, answer?: FailedAnswer): void {
  if (answer !== undefined) replayed.rememberAnswer(answer, REPLAYED);
  // A primitive is equal to those that other code throws.
  else if (isObject(failed)) replayed.remember(failed, REPLAYED);
  if (!isInstalled) install();
}

/** Notes that a run has ended with an error, so that it is reported if nobody waits for the run. */
export function report(error: unknown): void {
  if (isObject(error)) reported.add(error);
}

function isQuiet(reason: unknown): boolean {
  return !(isObject(reason) && reported.has(reason)) && replayed.find(reason).length > 0;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * The promise that is rejected may belong to the program or to a client, so nothing can be attached to it. A listener of
 * the event could not keep the others from hearing it, and would change what Node does about other rejections.
 */
function install(): void {
  isInstalled = true;
  const emit = process.emit as (this: NodeJS.Process, event: string | symbol, ...args: unknown[]) => boolean;
  const quiet = function (this: NodeJS.Process, event: string | symbol, ...args: unknown[]): boolean {
    if (event === "unhandledRejection" && isQuiet(args[0])) {
      kept.add(args[1] as object);
      return true;
    }
    if (event === "rejectionHandled" && kept.has(args[0] as object)) return true;
    return emit.call(this, event, ...args);
  };
  process.emit = quiet as typeof process.emit;
}
