import { fileURLToPath } from "node:url";

const MAX_FRAMES = 100;
/** In `dist`, all files of the package are below this one's folder. */
const OWN_URL = new URL(".", import.meta.url).href;
const OWN_PATH = fileURLToPath(OWN_URL);

/**
 * The function of the program that the current code was called or is awaited by, such as `ask (src/agent.ts:12:9)`; the
 * outermost one of a package, if no file of the program is on the stack.
 */
export function callSite(): string {
  const sites = stackLines().flatMap((line) => siteIn(line) ?? []);
  const own = sites.find(({ file }) => !file.includes("node_modules"));
  const site = own ?? sites.at(-1);
  return site === undefined ? "unknown" : site.text;
}

/** The lines of the current stack that are in files of the program, from the inside out. */
export function programStack(): string[] {
  return stackLines().filter((line) => siteIn(line)?.file.includes("node_modules") === false);
}

function stackLines(): string[] {
  const limit = Error.stackTraceLimit;
  try {
    Error.stackTraceLimit = MAX_FRAMES;
    const stack: unknown = new Error("stack").stack;
    Error.stackTraceLimit = limit;
    return typeof stack === "string" ? stack.split("\n").slice(1) : [];
  } catch {
    // Frozen intrinsics.
    return [];
  }
}

const LINE = /^\s*at (?:async )?(?:(.*) \((.+)\)|(.+))$/;

function siteIn(line: string): { file: string; text: string } | undefined {
  const [, name, inside, alone] = LINE.exec(line) ?? [];
  const place = inside ?? alone;
  if (place === undefined || !/:\d+$/.test(place) || /^(?:node:|native )/.test(place)) return undefined;
  if (place.startsWith(OWN_URL) || place.startsWith(OWN_PATH)) return undefined;
  const path = place.startsWith("file://") ? pathOf(place) : place;
  const folder = `${process.cwd()}/`;
  const file = path.startsWith(folder) ? path.slice(folder.length) : path;
  return { file, text: name === undefined ? file : `${name} (${file})` };
}

function pathOf(url: string): string {
  const [, file = url, rest = ""] = /^(.*?)((?::\d+)+)$/.exec(url) ?? [];
  try {
    return fileURLToPath(file) + rest;
  } catch {
    return url;
  }
}
