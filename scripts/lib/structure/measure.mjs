// The numbers of `npm run structure`, of one checkout.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { arrowsOf, circlesOf, commentsWithWhat, distinct, filesUnder, roomOf, withoutComments } from "./code.mjs";

const AREAS = [
  ["ts", [".ts"]],
  ["crates/core/src", [".rs"]],
  ["src", [".rs"]],
];

/**
 * A first-class field of calls and frames, which both languages spell alike and every passage carries: a new field touches
 * as many files as name this one.
 */
const FIELD = "handled";

/** Functions that decide which failure was handled or ended the run. Setters of a mark and delegates do not count. */
const RETRY_RULE =
  /\b(?:fn|function)\s+(?:ended_the_run|(?:call_|frame_)?was_handled|mark_handled_failures|mark_handled\(&mut self, completed|mark_stopped\(&mut self\)|failure_that_ended|handledFailures)/;

/**
 * Code that handles the JSON shape of a snapshot, where others use the read model: it resolves or fills the table of
 * request texts, or accesses the root. A type that leaves the table out does not count.
 */
const SNAPSHOT_READER =
  /(?<!\| ")\brequestTexts\b|(?<!&)\bsnapshot\.root\b|\broot\b[^;{}]*\}(?:: AgentSnapshot| = snapshot)\b/;

/** Name and value of each measure, in the order of the table. */
export function measure(root) {
  const areas = AREAS.map(([folder, extensions]) => ({ folder, files: filesUnder(root, folder, extensions) }));
  const all = areas.flatMap(({ files }) => files);
  const lines = ({ text }) => text.split("\n").length - 1;
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const naming = (pattern, files = all) => files.filter(({ text }) => pattern.test(withoutComments(text))).length;
  const readers = all.filter(({ path }) => !path.startsWith("ts/types/"));
  return {
    "product lines": sum(all.map(lines)),
    ...Object.assign({}, ...areas.map((area) => shapeOf(area, sum(area.files.map(lines))))),
    ...exportsOf(root),
    'comments that begin with "What"': sum(all.map(({ text }) => commentsWithWhat(text))),
    "words of docs": sum(pagesOf(root).map((page) => readFileSync(page, "utf8").split(/\s+/).filter(Boolean).length)),
    [`files that name a journal field (${FIELD})`]: naming(new RegExp(`\\b${FIELD}\\b`)),
    "files that define the retry rule": naming(RETRY_RULE),
    "files that read a snapshot's JSON": naming(SNAPSHOT_READER, readers),
  };
}

function shapeOf({ folder, files }, lines) {
  const folders = new Set(files.map(({ path }) => dirname(path)));
  const room = (path) => roomOf(path, folder, folders);
  const arrows = arrowsOf(files, folder);
  const between = distinct(arrows.map(([from, to]) => [room(from), room(to)]));
  const circles = (list) => {
    const sizes = circlesOf(list).map(({ length }) => length);
    return sizes.length === 0 ? "0" : `${sizes.length} (${sizes.join(", ")})`;
  };
  return {
    [`${folder}: lines`]: lines,
    [`${folder}: files`]: files.length,
    [`${folder}: rooms`]: new Set(files.map(({ path }) => room(path))).size,
    [`${folder}: arrows between rooms`]: between.length,
    [`${folder}: circles of rooms (sizes)`]: circles(between),
    [`${folder}: arrows between files`]: arrows.length,
    [`${folder}: circles of files (sizes)`]: circles(arrows),
  };
}

const pagesOf = (root) => [
  join(root, "README.md"),
  ...readdirSync(join(root, "docs")).flatMap((name) => (name.endsWith(".md") ? [join(root, "docs", name)] : [])),
];

/** Names that each entry point exports, by its source: `dist` is not in the repository. */
function exportsOf(root) {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.entries(exports).flatMap(([name, target]) => {
    const file = target.import?.default ?? target.import;
    return file === undefined ? [] : [[name, file.replace(/^\.\/dist\/(.*)\.mjs$/, "ts/$1.ts")]];
  });
  return Object.fromEntries(
    entries.map(([name, path]) => [`names of agent-rewind${name.slice(1)}`, namesIn(root, path).size]),
  );
}

function namesIn(root, path) {
  const code = withoutComments(readFileSync(join(root, path), "utf8"));
  const names = new Set();
  for (const [, list] of code.matchAll(/^export (?:type )?\{([^}]*)\}/gm))
    for (const item of list.split(",")) if (item.trim() !== "") names.add(item.trim().split(/\s+/).at(-1));
  const own = /^export (?:declare |async |abstract )*(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm;
  for (const [, name] of code.matchAll(own)) names.add(name);
  for (const [, from] of code.matchAll(/^export (?:type )?\* from "([^"]+)"/gm))
    for (const name of namesIn(root, join(dirname(path), from.replace(/\.js$/, ".ts")))) names.add(name);
  return names;
}
