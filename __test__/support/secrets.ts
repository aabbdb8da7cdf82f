// Secrets of every kind, assembled at runtime so that the repository contains none in usable form.

import { createHash } from "node:crypto";

export interface Secret {
  /** The rule that finds it. */
  rule: string;
  name: string;
  text: string;
}

/** Splits the beginning of a key, so that it cannot be read in this file. */
const cut: string = "";

const MIXED = "aB3dE5gH7jK9mN1pQ2sT4vW6xZ8yC0fL";

/** Letters and digits that differ from secret to secret. */
function run(seed: number, length: number, alphabet = MIXED): string {
  const letters = Array.from({ length }, (_, at) => {
    const byte = createHash("sha256").update(`${seed}:${at}`).digest()[0] as number;
    return alphabet[byte % alphabet.length] as string;
  });
  // One of each kind, wherever they occur.
  return alphabet.startsWith(MIXED) ? letters.join("").replace(/^.{3}/, "k7Q") : letters.join("");
}

const upper = (seed: number, length: number): string => run(seed, length, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567");
const hex = (seed: number, length: number): string => run(seed, length, "0123456789abcdef");
const digits = (seed: number, length: number): string => run(seed, length, "0123456789");
const url64 = (seed: number, length: number): string => run(seed, length, `${MIXED}-_`);

function jwt(seed: number, header: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part(header)}.${part({ sub: String(seed), name: "somebody" })}.${url64(seed, 43)}`;
}

function pem(label: string, seed: number): string {
  const lines = Array.from({ length: 6 }, (_, line) => run(seed + line, 64));
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].join("\n");
}

/** Appends Luhn's check digit. */
function card(start: string, length: number, seed: number): string {
  const body = start + digits(seed, length - start.length - 1);
  const sum = [...body]
    .toReversed()
    .map((digit, place) => Number(digit) * (place % 2 === 0 ? 2 : 1))
    .reduce((total, value) => total + (value > 9 ? value - 9 : value), 0);
  return body + String((10 - (sum % 10)) % 10);
}

const grouped = (number: string): string => number.replaceAll(/\d{4}(?=\d)/g, "$& ");

/** 70 and more. */
export function secrets(): Secret[] {
  const list: [rule: string, name: string, text: string][] = [
    ["openai-key", "user key", `sk${cut}-${run(1, 48)}`],
    ["openai-key", "old user key", `sk${cut}-${run(2, 20)}T3BlbkFJ${run(3, 20)}`],
    ["openai-key", "project key", `sk${cut}-proj-${url64(4, 74)}${run(5, 12)}`],
    ["openai-key", "service account", `sk${cut}-svcacct-${run(6, 30)}_${run(7, 40)}`],
    ["openai-key", "admin key", `sk${cut}-admin-${url64(8, 50)}${run(9, 12)}`],
    ["openai-key", "router key", `sk${cut}-or-v1-${hex(10, 64)}`],
    ["anthropic-key", "api key", `sk${cut}-ant-api03-${url64(11, 93)}AA`],
    ["anthropic-key", "admin key", `sk${cut}-ant-admin01-${url64(12, 93)}AA`],
    ["anthropic-key", "oauth token", `sk${cut}-ant-oat01-${url64(13, 86)}AA`],
    ["google-key", "api key", `AI${cut}za${url64(14, 35)}`],
    ["google-key", "another api key", `AI${cut}zaSy${url64(15, 33)}`],
    ["google-key", "client secret", `GOC${cut}SPX-${url64(16, 28)}`],
    ["google-key", "access token", `ya${cut}29.${url64(17, 120)}`],
    ["aws-key", "access key", `AK${cut}IA${upper(18, 16)}`],
    ["aws-key", "temporary key", `AS${cut}IA${upper(19, 16)}`],
    ["aws-key", "secret key", `aws_secret_access_key=${run(20, 40, `${MIXED}/+`)}`],
    ["aws-key", "session token", `AWS_SESSION_TOKEN: ${run(21, 200, `${MIXED}/+`)}`],
    ["aws-key", "bedrock key", `AB${cut}SK${run(22, 80)}`],
    ["github-key", "token", `gh${cut}p_${run(23, 36)}`],
    ["github-key", "oauth token", `gh${cut}o_${run(24, 36)}`],
    ["github-key", "app user token", `gh${cut}u_${run(25, 36)}`],
    ["github-key", "app token", `gh${cut}s_${run(26, 36)}`],
    ["github-key", "refresh token", `gh${cut}r_${run(27, 76)}`],
    ["github-key", "fine-grained token", `github${cut}_pat_${run(28, 22)}_${run(29, 59)}`],
    ["gitlab-key", "token", `gl${cut}pat-${url64(30, 20)}`],
    ["gitlab-key", "routable token", `gl${cut}pat-${url64(31, 27)}.01.${run(32, 9)}`],
    ["gitlab-key", "runner token", `gl${cut}rt-${url64(33, 20)}`],
    ["gitlab-key", "deploy token", `gl${cut}dt-${url64(34, 20)}`],
    ["slack-key", "bot token", `xo${cut}xb-${digits(35, 12)}-${digits(36, 13)}-${run(37, 24)}`],
    ["slack-key", "user token", `xo${cut}xp-${digits(38, 12)}-${digits(39, 12)}-${digits(40, 13)}-${hex(41, 32)}`],
    ["slack-key", "app token", `xa${cut}pp-1-A${digits(42, 9)}-${digits(43, 13)}-${hex(44, 64)}`],
    [
      "slack-key",
      "webhook",
      `https://hooks.${cut}slack.com/services/T${upper(45, 10)}/B${upper(46, 10)}/${run(47, 24)}`,
    ],
    ["stripe-key", "secret key", `sk${cut}_live_${run(48, 24)}`],
    ["stripe-key", "long secret key", `sk${cut}_live_51${run(49, 97)}`],
    ["stripe-key", "test key", `sk${cut}_test_${run(50, 24)}`],
    ["stripe-key", "restricted key", `rk${cut}_live_${run(51, 24)}`],
    ["stripe-key", "webhook secret", `wh${cut}sec_${run(52, 32)}`],
    ["huggingface-key", "token", `h${cut}f_${run(53, 34)}`],
    ["huggingface-key", "another token", `h${cut}f_${run(54, 37)}`],
    ["huggingface-key", "organization token", `api${cut}_org_${run(55, 34)}`],
    ["groq-key", "api key", `gs${cut}k_${run(81, 52)}`],
    ["xai-key", "api key", `xa${cut}i-${run(82, 80)}`],
    ["perplexity-key", "api key", `pp${cut}lx-${run(83, 48)}`],
    ["replicate-key", "token", `r${cut}8_${run(84, 37)}`],
    ["fireworks-key", "api key", `f${cut}w_${run(85, 24)}`],
    ["cerebras-key", "api key", `cs${cut}k-${run(86, 48)}`],
    ["together-key", "api key", `tg${cut}p_v1_${url64(87, 43)}`],
    ["nvidia-key", "api key", `nv${cut}api-${url64(88, 64)}`],
    ["langsmith-key", "personal token", `ls${cut}v2_pt_${hex(89, 32)}_${hex(90, 10)}`],
    ["langsmith-key", "service key", `ls${cut}v2_sk_${hex(91, 32)}_${hex(92, 10)}`],
    ["npm-key", "token", `np${cut}m_${run(56, 36)}`],
    ["npm-key", "another token", `np${cut}m_${run(57, 36)}`],
    ["npm-key", "third token", `np${cut}m_${run(58, 36)}`],
    ["jwt", "HS256", jwt(59, { alg: "HS256", typ: "JWT" })],
    ["jwt", "RS256", jwt(60, { typ: "JWT", kid: "k1", alg: "RS256" })],
    ["jwt", "ES256", jwt(61, { alg: "ES256" })],
    ["private-key", "PKCS 8", pem("PRIVATE KEY", 62)],
    ["private-key", "RSA", pem("RSA PRIVATE KEY", 63)],
    ["private-key", "OpenSSH", pem("OPENSSH PRIVATE KEY", 64)],
    ["private-key", "encrypted", pem("ENCRYPTED PRIVATE KEY", 65)],
    ["private-key", "PGP", pem("PGP PRIVATE KEY BLOCK", 66)],
    ["card-number", "visa", card("4", 16, 67)],
    ["card-number", "mastercard in groups", grouped(card("53", 16, 68))],
    ["card-number", "amex", card("37", 15, 69)],
    ["card-number", "discover", card("6011", 16, 70)],
    ["card-number", "visa with hyphens", grouped(card("4", 16, 71)).replaceAll(" ", "-")],
    ["url-password", "postgres", `postgres://app:${run(72, 14)}@db.example.com:5432/app`],
    ["url-password", "redis", `redis://default:${run(73, 20)}@cache.example.com`],
    ["url-password", "with a bare @", `https://user:${run(74, 6)}@${run(75, 6)}@example.com/path`],
    ["authorization", "bearer", `Authorization: Bearer ${run(76, 40)}`],
    ["authorization", "basic", `authorization: Basic ${Buffer.from(`user:${run(77, 12)}`).toString("base64")}`],
    ["authorization", "bearer by itself", `bearer ${hex(78, 40)}`],
    ["authorization", "api key header", `x-api-key: ${run(79, 32)}`],
    ["authorization", "api key parameter", `https://api.example.com/v1?api_key=${run(80, 32)}&page=2`],
  ];
  return list.map(([rule, name, text]) => ({ rule, name, text }));
}

/** The parts of a secret that must not appear anywhere: the secret without the name or URL around it. */
export function sensitiveParts({ text }: Secret): string[] {
  const around =
    /^(?:aws_secret_access_key=|AWS_SESSION_TOKEN: |(?:[Aa]uthorization: )?(?:Bearer|Basic|bearer) |x-api-key: )/;
  const inUrl = /:\/\/[^:/]+:(.+)@/.exec(text) ?? /api_key=(\w+)/.exec(text) ?? /\/services\/(.+)/.exec(text);
  const secret = inUrl?.[1] ?? text.replace(around, "");
  return secret.split("\n").filter((line) => !line.startsWith("-----"));
}
