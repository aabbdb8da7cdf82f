import { calling } from "../../native.js";
import type { SeenCall, SeenEnd } from "../scope/seen-calls.js";
import type { ErrorInfo } from "../../types/snapshot.js";
import { decodeValue } from "../../values/decode.js";
import { fromErrorInfo } from "../../values/error-info.js";
import { answerOf } from "./outcome.js";
import type { StartedCall } from "./started-call.js";

/** The calls that were recorded inside a call whose recorded answer was returned. */
export function includedCalls({ scope, callId: outer }: StartedCall): SeenCall[] {
  const calls = calling(() => scope.frame.includedCalls(JSON.stringify(outer)));
  return calls.map(({ kind, name, callId, request = '{"input":null}', failed, text, types }): SeenCall => {
    const output = (): unknown => decodeValue(text, types ?? null);
    const ended = failed ? seenFailure(JSON.parse(text) as ErrorInfo) : { output, cached: true };
    return { kind, name, callId, request: () => request, ended };
  });
}

function seenFailure(info: ErrorInfo): SeenEnd {
  if (answerOf(info) !== undefined) return { output: () => answerOf(info), cached: true };
  return { error: fromErrorInfo(info), cached: true };
}
