import { NOTHING_TRACKED, type Segment, type Tracked } from "./ledger.js";
import { estimateTokens, type CountTokens } from "./tokens.js";

const UNSETTABLE = { toolOutputs: true, toolCallCount: true };

/** The tokens of content that is not part of the messages. */
export class TrackedTokens {
  readonly #countTokens: CountTokens;
  #counts: Tracked = NOTHING_TRACKED;

  constructor(countTokens: CountTokens = estimateTokens) {
    this.#countTokens = countTokens;
  }

  get counts(): Tracked {
    return this.#counts;
  }

  /** @throws TypeError for an unknown segment. */
  set(segment: Segment, content: string | number): void {
    if (!(segment in this.#counts) || segment in UNSETTABLE) {
      throw new TypeError(`track: unknown segment "${segment}"`);
    }
    this.#counts = { ...this.#counts, [segment]: this.#count(content) };
  }

  addToolOutput(output: string | number): void {
    const { toolOutputs, toolCallCount } = this.#counts;
    this.#counts = {
      ...this.#counts,
      toolOutputs: toolOutputs + this.#count(output),
      toolCallCount: toolCallCount + 1,
    };
  }

  #count(content: string | number): number {
    return typeof content === "number" ? content : this.#countTokens(content);
  }
}
