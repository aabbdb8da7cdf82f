// What may be kept of how a request was sent.

/** Headers that a request needs to be understood, and none of them holds a secret. */
const KEPT = ["accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta"];
const SECRET = /key|token|secret|sig|password|code|credential/i;

export function publicHeaders(headers: Headers): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const name of KEPT) {
    const value = headers.get(name);
    if (value !== null) kept[name] = value;
  }
  return Object.freeze(kept);
}

/** Without the user, the password, and parameters that by their name hold a secret. */
export function publicUrl(url: URL): string {
  const copy = new URL(url);
  copy.username = "";
  copy.password = "";
  const secret = [...copy.searchParams].filter(([name]) => SECRET.test(name));
  for (const [name] of secret) copy.searchParams.delete(name);
  return copy.href;
}
