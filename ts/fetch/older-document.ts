// The document of a request in recordings without the replay flag 7: five headers, no values of secret parameters, and a
// body as `JSON.parse` reads it.

import { createHash } from "node:crypto";

import { readUrl, type OlderRequest } from "../integration/index.js";
import type { SentBody } from "./request-body.js";

const HEADERS = ["accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta"];
const SECRET_PARAMETER =
  /^(?:key|api[-_]?key|access[-_]?token|token|sig|signature|x-amz-(?:signature|credential|security-token))$/i;

export interface OlderSource {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly sent: SentBody;
  /** The headers that the options of `rewindFetch` list. */
  readonly listed: ReadonlySet<string>;
}

/** Returns a promise for a form. */
export function olderDocument({ method, url, headers, sent, listed }: OlderSource): object | Promise<object> {
  const type = headers.get("content-type") ?? sent.type?.replace(/;charset=UTF-8$/, "") ?? "";
  const kept: Record<string, string> = {};
  for (const name of [...new Set([...HEADERS, ...listed])].toSorted()) {
    const value = name === "content-type" ? type.replace(/;\s*boundary=[^;]*/i, "") : (headers.get(name) ?? "");
    if (value !== "") kept[name] = value;
  }
  const finish = (body: unknown): object => ({
    method: method.toUpperCase(),
    url: withoutSecrets(url),
    headers: kept,
    ...(body === undefined ? {} : { body }),
  });
  const body = olderBody(sent, type);
  return body instanceof Promise ? body.then(finish) : finish(body);
}

/** The content of a request that its older form does not have. */
export function uncovered(
  { headerNames, hasSecretParameters }: { headerNames: readonly string[]; hasSecretParameters: boolean },
  older: object,
): OlderRequest["uncovered"] {
  const { headers } = older as { headers: Record<string, string> };
  const parts = headerNames.filter((name) => !(name in headers)).map((name) => `the header ${name}`);
  if (hasSecretParameters) parts.push("secrets in the URL");
  return parts.length === 0 ? undefined : `recorded without replay flag 7, so not compared: ${parts.join(", ")}`;
}

function withoutSecrets(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(readUrl(text).url);
  url.username = "";
  url.password = "";
  for (const name of new Set(url.searchParams.keys())) {
    if (SECRET_PARAMETER.test(name)) url.searchParams.set(name, "-");
  }
  return url.href;
}

function olderBody({ content, form }: SentBody, type: string): unknown {
  if (content === undefined) return undefined;
  if (form !== undefined) return formDocument(form);
  if (typeof content === "string") return shownText(content, type);
  if (/^multipart\/form-data/i.test(type)) {
    const read = new Response(content, { headers: { "content-type": type } }).formData();
    return read.then(formDocument).catch(() => digest(content));
  }
  if (/json|^text\/|x-www-form-urlencoded/i.test(type)) {
    const text = content.toString("utf8");
    if (Buffer.from(text).equals(content)) return shownText(text, type);
  }
  return digest(content);
}

async function formDocument(form: FormData): Promise<object> {
  const parts = [...form].map(async ([name, value]): Promise<object> => {
    if (typeof value === "string") return { name, value };
    const bytes = Buffer.from(await value.arrayBuffer());
    return { name, file: value.name, type: value.type, ...digest(bytes) };
  });
  return { form: await Promise.all(parts) };
}

function digest(bytes: Buffer): { bytes: number; sha256: string } {
  return { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}

function shownText(text: string, type: string): unknown {
  // Some clients send JSON with another content type.
  if (!/json/i.test(type) && !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
