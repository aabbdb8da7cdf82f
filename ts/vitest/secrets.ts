/** A secret in a text: the rule that found it, and where. */
export interface FoundSecret {
  readonly rule: string;
  readonly index: number;
}

/** Keys as providers make them. */
const RULES: readonly (readonly [rule: string, pattern: RegExp])[] = [
  ["anthropic-key", /\bsk-ant-[\w-]{20,}/g],
  ["openai-key", /\bsk-(?!ant-)(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}/g],
  ["google-key", /\bAIza[\w-]{35}/g],
  ["aws-access-key", /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  ["github-token", /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{60,})/g],
  ["slack-token", /\bxox[abposr]-[\w-]{10,}/g],
  ["stripe-key", /\b[rs]k_live_[A-Za-z0-9]{20,}/g],
  ["hugging-face-token", /\bhf_[A-Za-z0-9]{30,}/g],
  ["groq-key", /\bgsk_[A-Za-z0-9]{40,}/g],
  ["xai-key", /\bxai-[A-Za-z0-9]{60,}/g],
  ["json-web-token", /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}/g],
  ["bearer-token", /\b[Bb]earer [\w.~+/-]{20,}/g],
  ["private-key", /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/g],
];

/** The secrets in a text. */
export function findSecrets(text: string): FoundSecret[] {
  return RULES.flatMap(([rule, pattern]) => [...text.matchAll(pattern)].map(({ index }) => ({ rule, index })));
}
