import type { ErrorInfo } from "../../types/snapshot.js";
import { encodeValue, type Encoded, type Tombstone } from "../../values/encode.js";
import type { CallData } from "./call-data.js";
import { CallFailure, journalFailure, journalOutcome, type CallSpec, type Ended } from "./outcome.js";
import type { StartedCall } from "./started-call.js";

/** Executes a call, and journals its outcome. */
export async function makeCall<T>(call: StartedCall, spec: CallSpec<T>): Promise<Ended<T>> {
  const { scope } = call;
  const startedAt = performance.now();
  const data = (): CallData => ({
    meta: {
      durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
      ...spec.meta?.(),
      ...(call.wireHash === undefined ? {} : { wireHash: call.wireHash() }),
    },
  });
  scope.count("live");
  let value: T;
  let encoded: Encoded | Tombstone;
  /** Once set it is final, also if progress is reported later. */
  let ended: Ended<T> | undefined;
  const endedWith = (given: T, as: Encoded | Tombstone, headReceived = false): Ended<T> => {
    if (headReceived) scope.frame.headReceived(call.slot);
    const now: Ended<T> = { value: given, cached: false, ...data(), ...journaledForm(given, as, spec) };
    journalOutcome(call, now);
    return now;
  };
  try {
    value = await spec.make((part, headReceived) => ended ?? endedWith(part, encodeValue(part), headReceived));
    encoded = encodeValue(value);
    if (spec.refuse !== undefined && "tombstone" in encoded) throw spec.refuse(encoded.tombstone);
  } catch (error) {
    const failureData = data();
    journalFailure(call, error, failureData);
    throw new CallFailure(error, "made", failureData);
  }
  ended = endedWith(value, encoded);
  return ended;
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
  return { ...failure, details, ...(tags.length === 0 ? {} : { detailsTypes }) };
}
