// Checks which rooms of ts/ import which. A room is a folder; each arrow, one room that imports another, is listed here.
import { readdirSync, readFileSync } from "node:fs";
import { posix, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { at } from "./lib/paths.mjs";
import { main } from "./lib/steps.mjs";

/** The ground floor: every room above may import these. */
const GROUND = {
  types: [],
  files: [],
  errors: ["types"],
  events: ["errors", "types", "values"],
  native: ["errors"],
  values: ["errors", "types"],
  urls: ["errors"],
};

/** Every other room imports the rooms in its list and the ground floor, nothing else. */
const ROOMS = {
  model: [],
  openai: [],
  provider: [],
  redact: [],
  schema: [],
  trace: [],
  audit: ["redact"],
  snapshot: ["redact"],
  recording: ["redact", "snapshot"],
  view: ["provider", "snapshot"],

  "runtime/order": [],
  "runtime/scope": ["runtime/order", "redact"],
  "runtime/call": ["runtime/order", "runtime/scope"],
  // Loaded by the first run that needs it.
  "runtime/network": ["runtime/scope"],
  "runtime/usage": ["runtime/scope"],
  "runtime/frame": ["runtime/call", "runtime/scope", "runtime/usage"],
  "runtime/run": [
    "runtime/call",
    "runtime/frame",
    "runtime/network",
    "runtime/scope",
    "runtime/usage",
    "redact",
    "snapshot",
  ],
  "runtime/agent": ["runtime/call", "runtime/frame", "runtime/scope", "runtime/usage", "model", "redact", "schema"],

  // The public kit for adapters. Adapters may import nothing else of the runtime.
  integration: ["runtime/call", "runtime/scope"],
  // Recording sessions are not public. Only `testing/recording`, `instrument` and `register` may import them.
  "integration/session": ["runtime/run", "runtime/scope"],
  tools: ["integration"],
  "ai-sdk": ["integration", "tools"],
  fetch: ["integration"],
  mcp: ["integration"],
  testing: ["testing/recording"],
  "testing/recording": ["integration/session", "recording", "redact"],
  vitest: ["instrument", "recording", "testing/recording"],
  instrument: ["fetch", "integration", "integration/session", "mcp", "tools"],
  register: ["instrument", "integration/session", "recording", "snapshot", "trace"],

  "context/request": ["runtime/scope"],
  "context/window": ["context/request"],
  "context/capture": ["context/request", "context/window", "runtime/call", "runtime/scope"],
  "context/compaction": ["context/capture", "context/request", "context/window"],
  "context/monitor": ["context/capture", "context/window", "redact"],
  context: ["context/capture", "context/compaction", "context/monitor", "context/request", "context/window"],

  index: ["redact", "runtime/agent", "runtime/call", "runtime/frame", "runtime/run", "runtime/scope", "runtime/usage"],
  debugger: ["runtime/run", "snapshot", "trace"],
  // Runs by id, on the public API.
  store: ["debugger", "index", "trace"],
  cli: [
    "audit",
    "context/capture",
    "context/request",
    "recording",
    "provider",
    "runtime/run",
    "snapshot",
    "store",
    "trace",
    "view",
    "vitest",
  ],
};

/** Rooms that other rooms import only by their index, because that is a public or agreed surface. */
const CLOSED = new Set(["integration", "integration/session"]);

const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g;

/** The room of a file: the longest listed path that contains it; a file of ts/ itself is a room of its own. */
function roomOf(file) {
  let path = file.replace(/\.[cm]?[jt]s$/, "");
  while (!(path in ROOMS) && !(path in GROUND) && path !== ".") path = posix.dirname(path);
  return path === "." ? undefined : path;
}

/**
 * Lists what is wrong with the imports of some files.
 *
 * @param {Iterable<[file: string, text: string]>} files paths relative to ts/, with "/".
 * @returns {string[]}
 */
export function wrongArrows(files) {
  const wrong = [];
  const unused = new Set(Object.entries(ROOMS).flatMap(([from, list]) => list.map((to) => `${from} -> ${to}`)));
  for (const [file, text] of files) {
    const from = roomOf(file);
    if (from === undefined) {
      wrong.push(`ts/${file}: belongs to no room; add its folder to ROOMS in scripts/check-arrows-ts.mjs`);
      continue;
    }
    for (const [, specifier] of text.matchAll(IMPORT)) {
      const target = posix.join(posix.dirname(file), specifier);
      if (target.startsWith("../")) continue;
      const to = roomOf(target);
      if (to === from) continue;
      unused.delete(`${from} -> ${to}`);
      const allowed = GROUND[from] ?? [...Object.keys(GROUND), ...ROOMS[from]];
      if (!allowed.includes(to)) wrong.push(`ts/${file}: "${from}" must not import "${to}" (${specifier})`);
      else if (CLOSED.has(to) && target !== `${to}/index.js`)
        wrong.push(`ts/${file}: "${from}" must import "${to}/index.js", not a file in it (${specifier})`);
    }
  }
  for (const arrow of unused) wrong.push(`no import needs ${arrow}; remove it from scripts/check-arrows-ts.mjs`);
  return wrong;
}

function* sources() {
  for (const name of readdirSync(at("ts"), { recursive: true })) {
    if (name.endsWith(".ts")) yield [name.split(sep).join("/"), readFileSync(at("ts", name), "utf8")];
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(() => {
    const wrong = wrongArrows(sources());
    if (wrong.length > 0) throw new Error(`imports between rooms of ts/:\n  ${wrong.join("\n  ")}`);
  });
}
