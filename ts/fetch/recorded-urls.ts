import { urlMatcher, type UrlPattern } from "../urls/patterns.js";
import { isTelemetry } from "../urls/telemetry.js";
import type { FetchInput } from "./request-document.js";

/** `"excluded"`: the options leave it out. */
export type Treatment = "record" | "excluded" | "telemetry";

/**
 * Which requests belong into a recording.
 *
 * @throws TypeError if an option is not a list of URL patterns.
 */
export function treatmentBy({
  only,
  ignore,
}: {
  only?: readonly UrlPattern[];
  ignore?: readonly UrlPattern[];
}): (input: FetchInput, init: RequestInit | undefined) => Treatment {
  const included = only === undefined ? undefined : urlMatcher(only, "rewindFetch: options.only");
  const excluded = ignore === undefined ? undefined : urlMatcher(ignore, "rewindFetch: options.ignore");
  return (input, init) => {
    const request = typeof input === "object" && "headers" in input ? input : undefined;
    const text = typeof input === "object" && "url" in input ? input.url : input.toString();
    // fetch itself rejects what is not a URL.
    if (!URL.canParse(text)) return "record";
    const url = new URL(text);
    if (included?.(url) === false || excluded?.(url) === true) return "excluded";
    const method = (init?.method ?? request?.method ?? "GET").toUpperCase();
    let headers: Headers | undefined;
    const header = (name: string): string | null =>
      (headers ??= new Headers(init?.headers ?? request?.headers)).get(name);
    return isTelemetry({ url, method, header }) ? "telemetry" : "record";
  };
}
