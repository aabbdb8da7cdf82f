// What shows if a program has seen a failure.

import { currentTurn } from "../../order/ticks.js";
import type { Scope } from "../../scope/scope.js";
import { captureStack, type CapturedStack } from "../identity/async-stack.js";
import type { StartedCall } from "../started-call.js";

/** The functions that wait for the current code, and the turn of the event loop, as the binding expects them. */
function now(stack: CapturedStack | undefined = captureStack()): [awaiters: string | undefined, turn: number] {
  const lane = stack?.placedLane();
  return [lane?.complete === true ? lane.names.join("\n") : undefined, currentTurn()];
}

/**
 * Notes that the program starts a call or a frame, or work that leads to one. Call it in its own stack: the functions that
 * wait for the start show which failures it has seen.
 */
export function noteStart(scope: Scope): void {
  if (!scope.hasPendingFailures) return;
  scope.noteHandled(JSON.parse(scope.frame.continues(...now())) as string[]);
  scope.hasPendingFailures = scope.frame.hasPendingFailures;
}

/**
 * Notes that the program receives the failure of a call. Call it in the code that the program waits for, or pass the stack
 * of the code that receives the failure, and that of the code that received the answer before it. The second one counts
 * if the first one does not lead to the frame, as inside `response.text()`.
 */
export function handOut({ scope, slot, context }: StartedCall, by?: CapturedStack, answeredTo?: CapturedStack): void {
  if (slot === undefined || scope.abandoned) return;
  const isAlone = scope.isIdle(context.outerCalls);
  const [awaiters, turn] = now(by);
  const [others] = awaiters === undefined && answeredTo !== undefined ? now(answeredTo) : [];
  scope.frame.handOut(slot, awaiters ?? others, turn, isAlone);
  scope.hasPendingFailures = scope.frame.hasPendingFailures;
}

/** As {@link handOut}, for a frame that has failed with an error. `replayed`: the error comes from a recording. */
export function handOutFrame(scope: Scope, error: unknown, replayed: boolean): void {
  const { parent, frame, callId, openedIn } = scope;
  if (parent === undefined) return;
  parent.remember(error, {
    callId,
    within: openedIn?.within,
    replayed,
    markStopped: () => frame.markFrameStopped(),
    nameInDump: () => frame.nameFrame(),
  });
  frame.handOutFrame(...now(), parent.isIdle(openedIn?.outerCalls ?? 0));
  parent.hasPendingFailures = parent.frame.hasPendingFailures;
}
