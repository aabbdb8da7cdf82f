import { Secret, type SecretText } from "./secret-text.js";
import { classOfParameter, isSecretValue } from "./volatile.js";

export interface RequestUrl {
  /** Without a fragment: the `url` of the response. */
  readonly url: string;
  /** Absent if the URL has no host. */
  readonly host: string | undefined;
  /** As it counts, without credentials. */
  readonly counted: SecretText;
  /** As it counts with `credentials: true`. */
  readonly withCredentials: SecretText;
}

// Clients request the same URL repeatedly.
let last: { text: string; read: RequestUrl } | undefined;

export function readUrl(text: string): RequestUrl {
  if (last?.text !== text) last = { text, read: parsed(text) };
  return last.read;
}

function parsed(text: string): RequestUrl {
  if (!URL.canParse(text)) return { url: text, host: undefined, counted: text, withCredentials: text };
  const parts = new URL(text);
  // Removes an empty fragment too, which `parts.hash` does not show.
  parts.hash = "";
  const url = parts.href;
  const { hostname: host, username, password } = parts;
  parts.username = "";
  parts.password = "";
  const query = parts.href.indexOf("?");
  const start = query === -1 ? parts.href : parts.href.slice(0, query);
  const search = query === -1 ? undefined : parts.href.slice(query + 1);
  const shownUrl = (credentials: boolean): SecretText => {
    const user =
      credentials && (username !== "" || password !== "") ? new Secret(`${username}:${password}`) : undefined;
    const parameters = search === undefined ? "" : parametersOf(search, host, credentials);
    const pieces: (string | Secret)[] = user === undefined ? [start] : [start, " as ", user];
    // A "?" without parameters counts, but not one whose parameters are left out.
    if (search === "" || parameters !== "") pieces.push("?", ...[parameters].flat());
    return joined(pieces);
  };
  const counted = shownUrl(false);
  return { url, host, counted, withCredentials: shownUrl(true) };
}

/** The parameters of a URL or of an urlencoded body: volatile ones are left out, all others stay as they are written. */
export function parametersOf(search: string, host: string, credentials: boolean): SecretText {
  const pieces: (string | Secret)[] = [];
  for (const parameter of search.split("&")) {
    const equals = parameter.indexOf("=");
    const name = decoded(equals === -1 ? parameter : parameter.slice(0, equals));
    const value = equals === -1 ? "" : parameter.slice(equals + 1);
    const found = classOfParameter(name, host);
    if (found === "volatile" || (found === "credential" && !credentials)) continue;
    if (pieces.length > 0) pieces.push("&");
    if (value !== "" && (found !== "plain" || isSecretValue(decoded(value)))) {
      pieces.push(parameter.slice(0, equals + 1), new Secret(value));
    } else {
      pieces.push(parameter);
    }
  }
  return joined(pieces);
}

function joined(pieces: readonly (string | Secret)[]): SecretText {
  const texts = pieces.filter((piece) => typeof piece === "string");
  return texts.length === pieces.length ? texts.join("") : pieces;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
