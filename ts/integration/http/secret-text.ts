/** A secret in a text. Its digest stands for it in recordings. */
export class Secret {
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }
}

/** A text, in pieces if it contains secrets. */
export type SecretText = string | readonly (string | Secret)[];

/** Returns the digest of a secret. */
export type Digest = (secret: string) => string;

export function shown(text: SecretText, digest: Digest): string {
  if (typeof text === "string") return text;
  return text.map((piece) => (typeof piece === "string" ? piece : `[digest:${digest(piece.value)}]`)).join("");
}
