import { checkOptionNames, type OptionNames } from "../errors/option-names.js";
import { received } from "../errors/received.js";
import type { UrlPattern } from "../urls/patterns.js";
import { instrumentFetch } from "./fetch.js";
import { checkRuntime } from "./runtime.js";
import { instrumentHttp } from "./http.js";
import { instrumentModules } from "./modules.js";

export { isUnsupportedNodeError, UnsupportedNodeError } from "../errors/platform.js";

export interface InstrumentOptions {
  /** The global fetch. Default: true. */
  fetch?: boolean;
  /** HTTP/1 on sockets: node:http, undici, a fetch that was captured earlier. Default: true. */
  http?: boolean;
  /** MCP clients that are loaded later. Default: true. */
  mcp?: boolean;
  /** Tools of the AI SDK, LangChain and OpenAI Agents, if they are loaded later. Default: true. */
  tools?: boolean;
  /** URLs to record. Default: all. */
  only?: readonly UrlPattern[];
  /** URLs that are not recorded. They count more than `only`. */
  ignore?: readonly UrlPattern[];
}

const NAMES: OptionNames<InstrumentOptions> = {
  fetch: true,
  http: true,
  mcp: true,
  tools: true,
  only: true,
  ignore: true,
};

const SWITCHES = ["fetch", "http", "mcp", "tools"] as const;

let isInstrumented = false;

/**
 * Wraps the clients of this process, so that a program records and replays without a wrapper of its own. What they do
 * belongs to the run, agent or test in whose async context it happens; outside of them nothing changes.
 *
 * Call it before the modules of MCP and of agent frameworks are loaded, for example in a setup file.
 *
 * @returns a function that undoes it. Modules that were loaded meanwhile stay wrapped.
 * @throws UnsupportedNodeError before Node.js 22.15, and in Bun and Deno.
 * @throws TypeError for invalid options, and if the process is instrumented already.
 *
 * @example
 * ```ts
 * import { runWith } from "agent-rewind";
 * import { instrument } from "agent-rewind/instrument";
 *
 * const undo = instrument({ ignore: ["localhost"] });
 * await runWith(() => fetch("https://api.example.com/v1/answers"));
 * undo();
 * ```
 */
export function instrument(options: InstrumentOptions = {}): () => void {
  checkRuntime("instrument");
  checkOptionNames("instrument: options", options, NAMES);
  for (const name of SWITCHES) {
    const value = options[name];
    if (value !== undefined && typeof value !== "boolean")
      throw new TypeError(`instrument: options.${name} must be true or false, received ${received(value)}`);
  }
  if (isInstrumented) throw new TypeError("instrument: this process is instrumented already. Undo that first.");
  const { fetch = true, http = true, mcp = true, tools = true, only, ignore } = options;
  const urls = { ...(only === undefined ? {} : { only }), ...(ignore === undefined ? {} : { ignore }) };
  const undo: (() => void)[] = [];
  if (fetch) undo.push(instrumentFetch(urls));
  if (http) undo.push(instrumentHttp(urls));
  if (mcp || tools) undo.push(instrumentModules({ mcp, tools }));
  isInstrumented = true;
  return () => {
    for (const action of undo.splice(0).toReversed()) action();
    isInstrumented = false;
  };
}
