import { calling } from "../../native.js";
import { outerCallInSession } from "../scope/outer-call.js";
import type { Scope } from "../scope/scope.js";
import {
  journalFailure,
  journalOutcome,
  type CallFailure,
  type CallSpec,
  type Ended,
  type Progress,
  type RecordedEnd,
} from "./outcome.js";
import { laneToFind } from "./identity/lanes.js";
import { CallEntry, StartedCall } from "./started-call.js";

/**
 * Requests the answer from the recording session around the run, and journals it in both.
 * @param answerOrCall answers the call in the session.
 * @throws CallFailure around the error of the call.
 */
export async function askOuterRecording<T>(
  call: StartedCall,
  outerRecording: Scope,
  spec: CallSpec<T>,
  answerOrCall: (call: StartedCall, spec: CallSpec<T>) => Promise<Ended<T>>,
): Promise<Ended<T>> {
  const { scope } = call;
  const outer = beginInside(outerRecording, call);
  try {
    const both = (ended: Ended<T>): Ended<T> => {
      journalOutcome(call, ended);
      return ended;
    };
    const make = (progress: Progress<T>): T | Promise<T> =>
      spec.make((value, headReceived = false) => {
        if (headReceived) scope.frame.headReceived(call.slot);
        return both(progress(value, headReceived));
      });
    const errors = [...(spec.errors ?? []), ...scope.run.errors];
    const ended = await answerOrCall(outer, { ...spec, make, errors });
    scope.count("live");
    const { continue: continueCall, end } = ended;
    if (end !== undefined) scope.frame.headReceived(call.slot);
    return both({
      ...ended,
      ...(continueCall === undefined ? {} : { continue: () => continueCall().then(both) }),
      ...(end === undefined ? {} : { end: alsoAt(end, () => both(ended)) }),
    });
  } catch (failure) {
    scope.count("live");
    journalFailure(call, (failure as CallFailure).error);
    throw failure;
  }
}

/** Begins the same call in the recording session. */
function beginInside(session: Scope, call: StartedCall): StartedCall {
  const { context, kind, name, entry, wireHash } = call;
  const { request, inexact, unseen } = call.inSession ?? call;
  const { from } = entry;
  const callId = session.nextCallId(kind, name);
  entry.sessionCallId = callId;
  const within = session.rules.innerCalls ? outerCallInSession(context) : undefined;
  const recorded = calling(() => {
    const text = session.recordable(request());
    const id = JSON.stringify(callId);
    return session.frame.begin(
      JSON.stringify(kind),
      id,
      text,
      undefined,
      undefined,
      inexact !== undefined,
      within === undefined ? undefined : JSON.stringify(within),
      laneToFind(session, from),
    );
  });
  return new StartedCall(
    context,
    { kind, name, request, wireHash, inexact, unseen },
    new CallEntry(callId, from, recorded),
    session,
  );
}

/** The end of a call that is journaled in two places. */
function alsoAt(end: RecordedEnd, journalIt: () => void): RecordedEnd {
  return {
    inOrder: () => end.inOrder().then(journalIt),
    now() {
      end.now();
      journalIt();
    },
  };
}
