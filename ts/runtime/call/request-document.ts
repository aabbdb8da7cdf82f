/** A request that writes its own document, with digests in place of secrets. */
export class RequestDocument {
  readonly #write: (digest: (secret: string) => string) => string;

  /**
   * @param write returns JSON text as `JSON.stringify` writes it. `digest` returns the digest of a secret under the key of
   * the recording.
   */
  constructor(write: (digest: (secret: string) => string) => string) {
    this.#write = write;
  }

  text(digest: (secret: string) => string): string {
    return this.#write(digest);
  }
}
