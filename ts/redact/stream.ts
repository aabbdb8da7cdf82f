import type { native } from "../native.js";

type NativeStream = InstanceType<typeof native.RedactStream>;

export interface RedactStreamOptions {
  /**
   * How many bytes of UTF-8 are held back, so that a secret that lies over several chunks is seen as a whole. A longer
   * secret is replaced as far as it is known, and the rest of it is left out.
   * @default 4096
   */
  holdBack?: number;
}

const DEFAULT_HOLD_BACK = 4_096;
const LEAST_HOLD_BACK = 256;

/** Redacts text that comes in chunks. */
export class RedactStream {
  readonly #native: NativeStream;
  /** The first half of a surrogate pair, whose second half is in the next chunk. */
  #half = "";

  /** @throws RangeError if less is to be held back than secrets are long. */
  constructor(start: (holdBack: number) => NativeStream, { holdBack = DEFAULT_HOLD_BACK }: RedactStreamOptions) {
    if (!Number.isInteger(holdBack) || holdBack < LEAST_HOLD_BACK || holdBack > 0x7fff_ffff) {
      throw new RangeError(
        `redactor.stream: options.holdBack must be a whole number of bytes from ${LEAST_HOLD_BACK} to 2147483647, ` +
          `received ${String(holdBack)}`,
      );
    }
    this.#native = start(holdBack);
  }

  /** Takes a chunk, and gives the text that is certain to hold no secret; often "". */
  push(chunk: string): string {
    const text = this.#half + chunk;
    this.#half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
    return this.#native.push(this.#half === "" ? text : text.slice(0, -1));
  }

  /** Gives what was held back. */
  end(): string {
    const rest = this.#half === "" ? "" : this.#native.push(this.#half);
    this.#half = "";
    return rest + this.#native.finish();
  }
}
