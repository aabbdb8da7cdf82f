import type { native } from "../native.js";

type NativeStream = InstanceType<typeof native.RedactStream>;

export interface RedactStreamOptions {
  /**
   * Number of UTF-8 bytes that are held back, so that a secret that spans several chunks is found. If a secret is
   * longer, the part found so far is replaced and the rest is removed.
   * @default 4096
   */
  holdBack?: number;
}

const DEFAULT_HOLD_BACK = 4_096;
const LEAST_HOLD_BACK = 256;

/** Redacts text that arrives in chunks. */
export class RedactStream {
  readonly #native: NativeStream;
  /** The first half of a surrogate pair whose second half is in the next chunk. */
  #half = "";

  /** @throws RangeError if `holdBack` is smaller than the longest built-in secrets. */
  constructor(start: (holdBack: number) => NativeStream, { holdBack = DEFAULT_HOLD_BACK }: RedactStreamOptions) {
    if (!Number.isInteger(holdBack) || holdBack < LEAST_HOLD_BACK || holdBack > 0x7fff_ffff) {
      throw new RangeError(
        `redactor.stream: options.holdBack must be an integer number of bytes from ${LEAST_HOLD_BACK} to 2147483647, ` +
          `received ${String(holdBack)}`,
      );
    }
    this.#native = start(holdBack);
  }

  /** Adds a chunk. Returns the redacted text that is complete so far, often "". */
  push(chunk: string): string {
    const text = this.#half + chunk;
    this.#half = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : "";
    return this.#native.push(this.#half === "" ? text : text.slice(0, -1));
  }

  /** Returns the rest of the redacted text. */
  end(): string {
    const rest = this.#half === "" ? "" : this.#native.push(this.#half);
    this.#half = "";
    return rest + this.#native.finish();
  }
}
