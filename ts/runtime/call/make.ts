import type { ErrorInfo } from "../../types/snapshot.js";
import { encodeValue, encodeWhole, type Encoded, type RefusedAt, type Tombstone } from "../../values/encode.js";
import { warnOnce } from "../../values/inexact.js";
import type { CallData } from "./call-data.js";
import { echoesIn } from "./echo.js";
import { beforeExecution } from "./effects.js";
import { CallFailure, journalFailure, journalOutcome, type CallSpec, type Ended } from "./outcome.js";
import type { StartedCall } from "./started-call.js";

/** Executes a call, and journals its outcome. */
export async function makeCall<T>(call: StartedCall, spec: CallSpec<T>): Promise<Ended<T>> {
  const { scope } = call;
  const startedAt = performance.now();
  const { entry } = call;
  /** `sameTick` is noted only for the final end, because the data of earlier parts is replaced. */
  const data = (hasEnded: boolean, answer?: unknown): CallData => ({
    ...(entry.from.lane === undefined ? {} : { lane: entry.from.lane }),
    ...(entry.attempts === 1 ? {} : { attempts: entry.attempts }),
    ...(hasEnded && scope.run.endTicks.end() ? { sameTick: true } : {}),
    meta: {
      durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
      ...spec.meta?.(),
      ...(answer === undefined || spec.echo === undefined ? {} : echoed(answer, spec.echo)),
      ...(call.wireHash === undefined ? {} : { wireHash: call.wireHash() }),
    },
    ...(call.inexact === undefined ? {} : { inexact: call.inexact }),
  });
  scope.count("live");
  let value: T;
  let encoded: Encoded | Tombstone;
  /** Once set it is final, also if progress is reported later. */
  let ended: Ended<T> | undefined;
  const endedWith = (given: T, as: Encoded | Tombstone, hasEnded: boolean): Ended<T> => {
    const now: Ended<T> = { value: given, cached: false, ...data(hasEnded, given), ...journaledForm(given, as, spec) };
    journalOutcome(call, now);
    call.noteOutcome(now.failure !== undefined);
    return now;
  };
  try {
    const { rules = {}, input } = spec.effect ?? {};
    const ahead = beforeExecution(call, rules, input);
    const earlier = ahead === undefined ? undefined : await ahead;
    const execute = earlier === undefined ? spec.make : () => earlier.value as T;
    value = await execute((part, headReceived) => {
      if (ended !== undefined) return ended;
      if (headReceived === true) scope.frame.headReceived(call.slot);
      return endedWith(part, encodeWhole(part), false);
    });
    encoded = encodeWhole(value);
    if (spec.refuse !== undefined && "tombstone" in encoded) {
      const visible = encodeValue(value);
      if ("tombstone" in visible) throw spec.refuse(visible.tombstone);
    }
  } catch (error) {
    const failureData = data(true);
    const failedBy = journalFailure(call, error, failureData);
    call.noteOutcome(true);
    throw new CallFailure(error, "made", failureData, failedBy);
  }
  ended = endedWith(value, encoded, true);
  if ("tombstone" in encoded && scope.run.recording) warnUnrecorded(call, encoded.tombstone);
  return ended;
}

function warnUnrecorded({ kind, name }: StartedCall, part: RefusedAt): void {
  warnOnce(
    part,
    (place) =>
      `the result of the ${kind} call "${name}" cannot be recorded (${place}), so a replay executes the call again. ` +
      "The program gets it unchanged. Return plain data to have it replayed.",
  );
}

function echoed(answer: unknown, { request, echoes }: NonNullable<CallSpec<unknown>["echo"]>): { echoes?: string[] } {
  const repeated = echoesIn(answer, request, echoes);
  return repeated.length === 0 ? {} : { echoes: repeated };
}

function journaledForm<T>(
  value: T,
  encoded: Encoded | Tombstone,
  spec: CallSpec<T>,
): Pick<Ended<unknown>, "encoded" | "tombstone" | "failure"> {
  if (!("tombstone" in encoded)) {
    const failure = failureWith(value, encoded, spec);
    return failure === undefined ? { encoded } : { failure };
  }
  const { path, reason } = encoded.tombstone;
  return { tombstone: `${path === "" ? "the value" : path}: ${reason}` };
}

/** The failure that an answer reports, together with the answer. */
function failureWith<T>(value: T, { text, types }: Encoded, { failureIn }: CallSpec<T>): ErrorInfo | undefined {
  const failure = failureIn?.(value);
  if (failure === undefined) return undefined;
  const tags = Object.entries(JSON.parse(types ?? "{}") as Record<string, string>);
  const detailsTypes = Object.fromEntries(tags.map(([pointer, tag]) => [`/answer${pointer}`, tag]));
  const details = { answer: JSON.parse(text) as unknown };
  return { name: failure.name, message: failure.message, details, ...(tags.length === 0 ? {} : { detailsTypes }) };
}
