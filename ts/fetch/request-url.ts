/** URL parameters that contain keys. */
const SECRET_PARAMETER =
  /^(?:key|api[-_]?key|access[-_]?token|token|sig|signature|x-amz-(?:signature|credential|security-token))$/i;

export interface RequestUrl {
  /** The `url` of the response. */
  readonly url: string;
  /** Absent if the URL has no host. */
  readonly host: string | undefined;
  /** Without keys, as it is hashed and recorded. */
  readonly shown: string;
}

// Clients request the same URL repeatedly.
let last: { text: string; read: RequestUrl } | undefined;

export function readUrl(text: string): RequestUrl {
  if (last?.text !== text) last = { text, read: parsed(text) };
  return last.read;
}

function parsed(text: string): RequestUrl {
  if (!URL.canParse(text)) return { url: text, host: undefined, shown: text };
  const parts = new URL(text);
  // Removes an empty fragment too, which `parts.hash` does not show.
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
