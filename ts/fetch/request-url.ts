// The URL of a request, as it is recorded and hashed.

/** Parameters of a URL that carry keys. */
const SECRET_PARAMETER =
  /^(?:key|api[-_]?key|access[-_]?token|token|sig|signature|x-amz-(?:signature|credential|security-token))$/i;

export interface RequestUrl {
  /** As its response has it. */
  readonly url: string;
  /** Its host, if it has one. */
  readonly host: string | undefined;
  /** Without keys. */
  readonly shown: string;
}

// A client asks the same URL again and again.
let last: { text: string; read: RequestUrl } | undefined;

export function readUrl(text: string): RequestUrl {
  if (last?.text !== text) last = { text, read: parsed(text) };
  return last.read;
}

function parsed(text: string): RequestUrl {
  if (!URL.canParse(text)) return { url: text, host: undefined, shown: text };
  const parts = new URL(text);
  // Also of a fragment that is empty, which `parts.hash` does not tell of.
  parts.hash = "";
  return { url: parts.href, host: parts.hostname, shown: withoutSecrets(parts) };
}

function withoutSecrets(url: URL): string {
  url.username = "";
  url.password = "";
  for (const name of new Set(url.searchParams.keys())) {
    if (SECRET_PARAMETER.test(name)) url.searchParams.set(name, "-");
  }
  return url.href;
}
