// The rules of runs for the network.

import { urlMatcher, type UrlPattern } from "../../urls/patterns.js";

/** How the network guard treats a request that no wrapper sees. */
export type NetworkMode =
  /** It fails with an UnrecordedRequestError, and so does the run. */
  | "refuse"
  /** It is sent. A warning names its host, and the report lists it. */
  | "report"
  /** It is sent. */
  | "allow";

export interface NetworkOptions {
  /**
   * For HTTP requests that no wrapper sees, so that they are not recorded: `"refuse"` fails the request and the run with
   * an UnrecordedRequestError, `"report"` sends the request, warns and lists it in `report.unrecorded`, `"allow"` sends
   * it. Default: `"refuse"` in a strict replay, otherwise `"allow"`. Recorded tests also refuse in CI, and report while
   * they are recorded elsewhere.
   */
  network?: NetworkMode;
  /**
   * Hosts that such requests may reach, such as `["localhost:6333", "*.internal.example.com"]`. Servers of this process
   * need not be listed.
   */
  allowHosts?: readonly UrlPattern[];
}

export interface NetworkRules {
  readonly mode: NetworkMode;
  allows(url: URL): boolean;
}

export const ALLOW_ALL: NetworkRules = { mode: "allow", allows: () => true };

const MODES: readonly NetworkMode[] = ["refuse", "report", "allow"];

/**
 * @param owner names the options in errors, such as `runWith: options`.
 * @param around the rules of the test that the run is a part of.
 * @throws TypeError if an option is invalid.
 */
export function networkRules(
  owner: string,
  { network, allowHosts }: NetworkOptions,
  byDefault: NetworkMode,
  around: NetworkRules = ALLOW_ALL,
): NetworkRules {
  if (network !== undefined && !MODES.includes(network)) {
    const list = MODES.map((mode) => `"${mode}"`).join(", ");
    throw new TypeError(`${owner}.network must be one of ${list}, received ${JSON.stringify(network)}`);
  }
  const isListed = allowHosts === undefined ? undefined : urlMatcher(allowHosts, `${owner}.allowHosts`);
  const isOwnDefault = around.mode === "allow" || byDefault === "refuse";
  const mode = network ?? (isOwnDefault ? byDefault : around.mode);
  if (mode === "allow") return ALLOW_ALL;
  return { mode, allows: (url) => isListed?.(url) === true || (around.mode !== "allow" && around.allows(url)) };
}
