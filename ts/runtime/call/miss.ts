import { calling, type NativeBegun, type NativeFrameHandle } from "../../native.js";
import type { Miss, MissExplanation, MissReason } from "../../types/miss.js";

/** A call that the recording has no answer for. It is explained when somebody asks why. */
export class UnansweredCall implements Miss {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  readonly contentHash: string;
  readonly reason: MissReason;
  readonly inexact: string | undefined;
  readonly #explain: () => MissExplanation | undefined;
  #explanation: { readonly known: MissExplanation | undefined } | undefined;

  constructor(
    frame: NativeFrameHandle,
    begun: NativeBegun,
    call: { kind: string; name: string; callId: string; request: () => string; inexact?: string | undefined },
  ) {
    this.kind = call.kind;
    this.name = call.name;
    this.callId = call.callId;
    this.contentHash = begun.contentHash;
    this.reason = begun.answer as MissReason;
    this.inexact = this.reason === "inexact" ? call.inexact : undefined;
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

  /** With the explanation, which is not a field. */
  toJSON(): Miss {
    const { kind, name, callId, contentHash, reason, inexact, explanation } = this;
    const miss = { kind, name, callId, contentHash, reason, ...(inexact === undefined ? {} : { inexact }) };
    return explanation === undefined ? miss : { ...miss, explanation };
  }
}
