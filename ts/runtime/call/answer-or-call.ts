import { decodeValue } from "../../values/decode.js";
import type { SeenCall, SeenEnd } from "../scope/seen-calls.js";
import { includedCalls } from "./included.js";
import { makeCall } from "./make.js";
import { outlast, reportMiss } from "./miss.js";
import { CallFailure, answerOf, type CallSpec, type Ended } from "./outcome.js";
import { askOuterRecording } from "./outer-recording.js";
import { replayRecorded } from "./replay.js";
import type { StartedCall } from "./started-call.js";

/**
 * Answers a call from the recording, or executes it and journals its outcome.
 * @throws CallFailure around the error of the call.
 */
export async function answerOrCall<T>(call: StartedCall, spec: CallSpec<T>): Promise<Ended<T>> {
  const { kind, name, callId, request } = call;
  const seen = call.scope.run.seeCall({ kind, name, callId, request });
  call.scope.openCalls += 1;
  try {
    const ended = await (call.hasRecordedAnswer ? replayRecorded(call, spec, makeAgain) : makeUnanswered(call, spec));
    seen.ended = seenEnd(ended);
    seeIncluded(call, seen);
    const { continue: continueCall } = ended;
    if (continueCall === undefined) return ended;
    return {
      ...ended,
      continue: () => continueCall().finally(() => (seen.ended = { ...seenEnd(ended), cached: false })),
    };
  } catch (failure) {
    // Other errors do not come from the call itself, but from a callback of the run or an edited recording.
    const own = failure instanceof CallFailure ? failure : new CallFailure(failure, "made");
    seen.ended = { error: own.error, cached: own.cached };
    seeIncluded(call, seen);
    throw own;
  } finally {
    call.close();
    call.scope.openCalls -= 1;
    call.scope.endedCalls += 1;
  }
}

/** If the recorded answer was returned, lists what was recorded inside the call too. */
function seeIncluded(call: StartedCall, seen: SeenCall): void {
  if (call.recorded.included !== undefined && seen.ended?.cached === true)
    call.scope.run.seeInside(seen, () => includedCalls(call));
}

function seenEnd({ value, encoded, failure, cached }: Ended<unknown>): SeenEnd {
  if (encoded !== undefined) return { output: () => decodeValue(encoded.text, encoded.types), cached };
  return { output: failure === undefined ? () => value : () => answerOf(failure), cached };
}

/** Executes a call whose recorded answer is incomplete. */
async function makeAgain<T>(call: StartedCall, spec: CallSpec<T>): Promise<Ended<T>> {
  call.reopen();
  return makeUnanswered(call, spec);
}

/** @throws CallFailure, at once or later. */
function makeUnanswered<T>(call: StartedCall, spec: CallSpec<T>): Promise<Ended<T>> {
  const make = (): Promise<Ended<T>> => makeMissed(call, spec);
  const { mode, outermost } = call.scope.run;
  const waits = call.answer === "in-flight" && (mode === "replay" || outermost.isRecordingSession);
  return waits ? outlast(call).then(make) : make();
}

/** @throws CallFailure, at once or later. */
function makeMissed<T>(call: StartedCall, spec: CallSpec<T>): Promise<Ended<T>> {
  const { run, outerRecording } = call.scope;
  if (run.replaying) reportMiss(call);
  return outerRecording === undefined
    ? makeCall(call, spec)
    : askOuterRecording(call, outerRecording, spec, answerOrCall);
}
