import { ReplayMissError } from "../../errors/index.js";
import { calling } from "../../native.js";
import { defined } from "../../values/defined.js";
import type { Miss, MissExplanation, MissReason } from "../../types/miss.js";
import { CallFailure } from "./outcome.js";
import type { StartedCall } from "./started-call.js";

/** A call without a recorded answer. Its explanation is computed on first access. */
class UnansweredCall implements Miss {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  readonly contentHash: string;
  readonly reason: MissReason;
  readonly inexact: string | undefined;
  readonly flag: number | undefined;
  readonly #explain: () => MissExplanation | undefined;
  #explanation: { readonly known: MissExplanation | undefined } | undefined;

  constructor({ scope: { frame }, kind, name, callId, contentHash, request, answer, inexact }: StartedCall) {
    this.kind = kind;
    this.name = name;
    this.callId = callId;
    this.contentHash = contentHash;
    this.reason = answer as MissReason;
    const isInexact = this.reason === "inexact";
    // Otherwise the props of its frame leave open whose request it is.
    this.flag = isInexact ? (inexact === undefined ? 5 : 1) : undefined;
    this.inexact = isInexact ? (inexact ?? "the props of its frame") : undefined;
    this.#explain = () => {
      if (this.reason !== "not-recorded") return undefined;
      const text = calling(() => frame.explain(JSON.stringify(kind), request()));
      return text == null ? undefined : (JSON.parse(text) as MissExplanation);
    };
  }

  get explanation(): MissExplanation | undefined {
    this.#explanation ??= { known: this.#explain() };
    return this.#explanation.known;
  }

  /** Includes the explanation, which is a getter. */
  toJSON(): Miss {
    const { kind, name, callId, contentHash, reason, inexact, flag, explanation } = this;
    return { kind, name, callId, contentHash, reason, ...defined({ inexact, flag, explanation }) };
  }
}

/**
 * Reports a call without a recorded answer.
 * @throws CallFailure around a ReplayMissError if it may not be executed.
 */
export function reportMiss(call: StartedCall): void {
  const { scope } = call;
  const { misses } = scope.run;
  const miss = new UnansweredCall(call);
  if (miss.reason === "not-recorded" || miss.reason === "no-recording") {
    scope.count("missed");
    if (miss.reason === "not-recorded") scope.frameReport.firstDivergence ??= miss;
  }
  const { flag, callId, inexact = "" } = miss;
  if (flag !== undefined) scope.run.report.withheld.push({ callId, flag, reason: inexact });
  if (call.recorded.unproven === true) scope.run.report.unprovenFailures.push(call.callId);
  if (misses.allows(miss)) return;
  const error = new ReplayMissError(miss);
  // A miss in a frame that already returned must not fail the run.
  if (scope.isRunning) misses.refuse(error);
  throw new CallFailure(error, "made");
}

/**
 * Waits until nothing else is pending. A call that was recorded in flight had lost a race or was left behind, so an
 * unchanged program continues without its answer. In a strict replay it is a miss only if nothing else is pending.
 * @throws CallFailure around an AbortError if the agent was aborted meanwhile.
 */
export async function outlast({ scope }: StartedCall): Promise<void> {
  await scope.run.releases.idle();
  // A live call after the end of a test would be recorded nowhere.
  const isLate = scope.run.mode !== "replay" && !scope.isRunning;
  if (scope.signal.aborted || isLate) throw new CallFailure(scope.abortError(), "made");
}
