import { isAbortError } from "../../errors/index.js";
import type { ErrorInfo } from "../../types/snapshot.js";
import { decodeValue } from "../../values/decode.js";
import { addSaved } from "../scope/replay-report.js";
import type { CallData } from "./call-data.js";
import { applyEchoes } from "./echo.js";
import { restoreError } from "./failures/incomplete-errors.js";
import {
  CallFailure,
  answerOf,
  journalFailure,
  rememberFailure,
  type CallSpec,
  type Ended,
  type Progress,
  type RecordedEnd,
} from "./outcome.js";
import { keepQuiet } from "./failures/quiet.js";
import type { StartedCall } from "./started-call.js";

/**
 * Answers a call with its recorded outcome, when the recorded order reaches it.
 * @param makeAgain executes the call if its recorded answer is incomplete.
 * @throws CallFailure
 */
export async function replayRecorded<T>(
  call: StartedCall,
  spec: CallSpec<T>,
  makeAgain: (call: StartedCall, spec: CallSpec<T>) => Promise<Ended<T>>,
): Promise<Ended<T>> {
  const preparing = spec.beforeReplay && prepareReplay(call, spec.beforeReplay);
  if (preparing !== undefined) await preparing;
  const answer = call.answer === "output" ? recordedOutput(call, spec) : answerInFailure(call, spec);
  if (answer === undefined) {
    noteInexact(call);
    const error = recordedError(call, spec);
    // Not in a function of its own: a failure takes as many steps as an output, as when it was recorded.
    await waitForRelease(call, false);
    const { reopenedRequests } = call.scope.run;
    if (!reopenedRequests.isEmpty && isAbortError(error)) await reopenedRequests.answeredBefore(call.recorded.end);
    throw replayedFailure(call, error);
  }
  const { scope, recorded } = call;
  const incomplete = spec.incompleteAnswer?.(answer.value);
  if (incomplete === "restart" && scope.run.mode !== "replay") {
    scope.frame.reopen(call.slot, recorded.answered, recorded.end);
    return restart(call, spec, makeAgain);
  }
  noteInexact(call);
  const end = recordedEnd(call, spec);
  const headReceived = end !== undefined;
  await waitForRelease(call, headReceived);
  const ended = { ...answer, ...release(call, headReceived), end };
  if (answer.failure !== undefined) scope.run.report.replayedFailures += 1;
  if (incomplete === undefined) return ended;
  const continueCall = (): Promise<Ended<T>> => {
    end?.now();
    return makeAgain(call, spec);
  };
  return { ...ended, continue: continueCall };
}

/** Lists an answer that may belong to another request with the same hash. */
function noteInexact({ scope, callId, inexact, unseen }: StartedCall): void {
  for (const reason of [inexact, unseen]) {
    if (reason !== undefined) scope.run.report.inexact.push({ callId, reason });
  }
}

/** Executes a call again whose recorded answer is incomplete. A later recorded abort waits for the new answer. */
async function restart<T>(
  call: StartedCall,
  spec: CallSpec<T>,
  makeAgain: (call: StartedCall, spec: CallSpec<T>) => Promise<Ended<T>>,
): Promise<Ended<T>> {
  const { answered, end } = call.recorded;
  const reopened = call.scope.run.reopenedRequests.begin(answered ?? end);
  const make = (progress: Progress<T>): T | Promise<T> =>
    spec.make((value, headReceived) => {
      if (headReceived === true) reopened.answered();
      return progress(value, headReceived);
    });
  try {
    return await makeAgain(call, { ...spec, make });
  } finally {
    reopened.answered();
  }
}

/** Returns a promise only if there is something to await: one more would change the order of releases. */
function prepareReplay(call: StartedCall, prepare: () => Promise<void> | undefined): Promise<void> | undefined {
  const fail = (error: unknown): never => {
    journalFailure(call, error, {});
    throw new CallFailure(error, "made", {});
  };
  try {
    return prepare()?.catch(fail);
  } catch (error) {
    return fail(error);
  }
}

function recordedOutput<T>(call: StartedCall, { errors, echo }: CallSpec<T>): Ended<T> {
  const { recorded, scope, callId, entry } = call;
  const encoded = { text: recorded.text ?? "null", types: recorded.types ?? null };
  const value = decodeValue(encoded.text, encoded.types) as T;
  if (echo !== undefined) applyEchoes(value, echo.request, echo.echoes, entry.recordedData.meta?.echoes ?? []);
  return { value, cached: true, encoded, restoreError: (info) => restoreError(scope, callId, info, errors) };
}

/** The recorded answer that reports a failure; `undefined` if the call failed without an answer. */
function answerInFailure<T>(call: StartedCall, { failureIn }: CallSpec<T>): Ended<T> | undefined {
  if (failureIn === undefined) return undefined;
  const failure = JSON.parse(call.recorded.text ?? "{}") as ErrorInfo;
  const answer = answerOf(failure) as T | undefined;
  if (answer === undefined) return undefined;
  // Other failures may have a field with this name too.
  if (failureIn(answer)?.name !== failure.name) return undefined;
  return {
    value: answer,
    cached: true,
    failure,
    handledWhenRecorded: call.answer === "handled-failure",
    askedAgain: call.askedAgain,
  };
}

function recordedError<T>(call: StartedCall, { errors, revive = (error) => error }: CallSpec<T>): unknown {
  const info = JSON.parse(call.recorded.text ?? "{}") as ErrorInfo;
  return revive(restoreError(call.scope, call.callId, info, errors), call.askedAgain);
}

function replayedFailure(call: StartedCall, error: unknown): CallFailure {
  const data = release(call, false);
  call.scope.run.report.replayedFailures += 1;
  rememberFailure(call, error, true);
  keepQuiet(error);
  return new CallFailure(error, call.answer === "failure" ? "recorded" : "recorded-handled", data);
}

/** The end of a call whose answer was returned before. Absent if the recording has one position for both. */
function recordedEnd<T>(call: StartedCall, { incompleteAnswer }: CallSpec<T>): RecordedEnd | undefined {
  const { answered, end, tick } = call.recorded;
  if (incompleteAnswer === undefined || answered == null) return undefined;
  const { scope } = call;
  let isReleased = false;
  const now = (): void => {
    if (isReleased) return;
    isReleased = true;
    if (scope.frame.release(call.slot, end)) scope.count("overtaken");
  };
  const { releases } = scope.run;
  return { inOrder: () => releases.waitForRelease(end ?? undefined, tick ?? undefined).then(now), now };
}

/** Resolves when the recorded order reaches the end of the call, or its answer if that was returned before. */
function waitForRelease({ scope, recorded }: StartedCall, headReceived: boolean): Promise<void> {
  const { releases } = scope.run;
  if (headReceived) return releases.waitForRelease(recorded.answered ?? undefined);
  return releases.waitForRelease(recorded.end ?? undefined, recorded.tick ?? undefined);
}

/** Reports to the core that the recorded answer is returned. Returns its recorded data. */
function release(call: StartedCall, headReceived: boolean): CallData {
  const { scope, slot, recorded } = call;
  const { run, frame } = scope;
  const { answered, end } = recorded;
  // What was recorded inside the call is replayed with it.
  scope.count("replayed", 1 + (recorded.included?.calls ?? 0));
  call.noteOutcome(call.answer !== "output");
  const overtook = headReceived ? frame.headReceived(slot, answered) : frame.release(slot, end);
  if (overtook) scope.count("overtaken");
  const data = call.entry.recordedData;
  if (data.meta !== undefined) addSaved(run.report.saved, data.meta);
  return data;
}
