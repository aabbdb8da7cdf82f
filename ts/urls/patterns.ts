// Patterns for URLs in options.

import { kindOf } from "../errors/received.js";

/**
 * `"api.example.com"`, `"*.example.com"`, `"localhost:8080"`, `"api.example.com/v1/*"`: a host, with a port and a path if
 * those matter; `*` stands for any characters. Or a RegExp for the whole URL.
 */
export type UrlPattern = string | RegExp;

const PATTERN = /^(?:([a-z][a-z\d+.-]*):\/\/)?([^/?#\s]+?)(?::(\d+|\*))?([/?][^\s#]*)?$/i;

/**
 * @param option the name of the option, for errors.
 * @throws TypeError if `patterns` is not a list of at least one pattern.
 */
export function urlMatcher(patterns: unknown, option: string): (url: URL) => boolean {
  if (!Array.isArray(patterns) || patterns.length === 0)
    throw new TypeError(`${option} must be a list of at least one URL pattern, received ${kindOf(patterns)}`);
  const tests = patterns.map((pattern: unknown, index) => testOf(pattern, `${option}[${index}]`));
  return (url) => tests.some((test) => test(url));
}

function testOf(pattern: unknown, option: string): (url: URL) => boolean {
  if (pattern instanceof RegExp) {
    // Without the flags that make a RegExp remember its last match.
    const test = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ""));
    return (url) => test.test(url.href);
  }
  const parts = typeof pattern === "string" ? PATTERN.exec(pattern) : null;
  if (parts === null) {
    const received = typeof pattern === "string" ? JSON.stringify(pattern) : kindOf(pattern);
    throw new TypeError(`${option} must be a RegExp or a pattern such as "api.example.com/v1/*", received ${received}`);
  }
  const [, scheme, host = "", port = "*", path = "/*"] = parts;
  const hostTest = glob(host.toLowerCase());
  const pathTest = glob(path);
  return (url) =>
    (scheme === undefined || url.protocol === `${scheme.toLowerCase()}:`) &&
    hostTest.test(url.hostname) &&
    (port === "*" || port === (url.port || DEFAULT_PORTS[url.protocol])) &&
    pathTest.test(path.includes("?") ? url.pathname + url.search : url.pathname);
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

function glob(text: string): RegExp {
  const escaped = text.replace(/[\\^$.|?+()[\]{}]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*")}$`, "s");
}
