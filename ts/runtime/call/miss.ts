import { calling, type NativeStartedCall, type NativeFrameHandle } from "../../native.js";
import type { Miss, MissExplanation, MissReason } from "../../types/miss.js";

/** A call without a recorded answer. Its explanation is computed on first access. */
export class UnansweredCall implements Miss {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  readonly contentHash: string;
  readonly reason: MissReason;
  readonly #explain: () => MissExplanation | undefined;
  #explanation: { readonly known: MissExplanation | undefined } | undefined;

  constructor(
    frame: NativeFrameHandle,
    begun: NativeStartedCall,
    call: { kind: string; name: string; callId: string; request: () => string },
  ) {
    this.kind = call.kind;
    this.name = call.name;
    this.callId = call.callId;
    this.contentHash = begun.contentHash;
    this.reason = begun.answer as MissReason;
    this.#explain = () => {
      if (this.reason !== "not-recorded") return undefined;
      const text = calling(() => frame.explain(JSON.stringify(call.kind), call.request()));
      return text == null ? undefined : (JSON.parse(text) as MissExplanation);
    };
  }

  get explanation(): MissExplanation | undefined {
    this.#explanation ??= { known: this.#explain() };
    return this.#explanation.known;
  }

  /** Includes the explanation, which is a getter. */
  toJSON(): Miss {
    const { kind, name, callId, contentHash, reason, explanation } = this;
    const miss = { kind, name, callId, contentHash, reason };
    return explanation === undefined ? miss : { ...miss, explanation };
  }
}
