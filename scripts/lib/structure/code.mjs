// Reads sources as text: comments, imports, circles. Rules of thumb that are true to this code, not parsers.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";

/** A source file: its path from the repository's root, with "/". */
export function filesUnder(root, folder, extensions) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extensions.some((extension) => entry.name.endsWith(extension)))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** Without comments. A "//" in a string, as in a URL, is left. */
export const withoutComments = (text) => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");

/** Comments whose first word is "What". A further line of the same comment does not count. */
export function commentsWithWhat(text) {
  const lines = text.split("\n").map((line) => line.trim());
  const kindOf = (line) => /^(?:\/\/[/!]?|\/\*\*?|\*)(?=\s|$)/.exec(line)?.[0];
  return lines.filter((line, index) => {
    const kind = kindOf(line);
    if (kind === undefined || !/^\S+\s+What\b/.test(line)) return false;
    const before = lines[index - 1] ?? "";
    return kind === "*" ? /^\/\*\*?$/.test(before) : kindOf(before) !== kind;
  }).length;
}

/** [from, to] for each file that names another one of `files`. */
export function arrowsOf(files, area) {
  const known = new Set(files.map(({ path }) => path));
  return files.flatMap(({ path, text }) => {
    const targets = path.endsWith(".rs") ? rustTargets(path, text, area, known) : scriptTargets(path, text, known);
    return [...new Set(targets)].filter((to) => to !== path).map((to) => [path, to]);
  });
}

function scriptTargets(path, text, known) {
  const names = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g)];
  return names
    .map(([, name]) => posix.join(dirname(path), name).replace(/\.js$/, ".ts"))
    .filter((target) => known.has(target));
}

function rustTargets(path, text, area, known) {
  const own = modulePath(path, area);
  const code = withoutComments(text).replace(/#\[cfg\(test\)\]\s*mod \w+ \{[\s\S]*$/, "");
  const names = [...code.matchAll(/\buse ((?:crate|super|self)::[^;]+);/g)].flatMap(([, tree]) => usedNames(tree));
  for (const [name] of code.matchAll(/\b(?:crate|super|self)(?:::\w+)+/g)) names.push(name);
  return names.flatMap((name) => {
    const parts = name.split("::").map((part) => part.trim());
    let at = parts[0] === "crate" ? [] : [...own];
    while (["crate", "super", "self"].includes(parts[0])) if (parts.shift() === "super") at.pop();
    at = [...at, ...parts];
    // The longest part of the path that is a module; the rest is an item in it.
    for (; at.length > 0; at.pop()) {
      const found = [`${area}/${at.join("/")}.rs`, `${area}/${at.join("/")}/mod.rs`].find((file) => known.has(file));
      if (found !== undefined) return [found];
    }
    return [];
  });
}

/** `a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`. */
function usedNames(tree) {
  const open = tree.indexOf("{");
  if (open === -1) return [tree.replace(/ as \w+/, "")];
  const parts = [""];
  let depth = 0;
  for (const char of tree.slice(open + 1, tree.lastIndexOf("}"))) {
    if (char === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += char;
    if (char === "{") depth += 1;
    if (char === "}") depth -= 1;
  }
  return parts.filter((part) => part.trim() !== "").flatMap((part) => usedNames(tree.slice(0, open) + part.trim()));
}

const modulePath = (path, area) =>
  path
    .slice(area.length + 1)
    .replace(/(?:\/mod)?\.rs$|^lib\.rs$/, "")
    .split("/")
    .filter(Boolean);

/** The room of a file: its folder; for a file at the top of an area, or a Rust module with a folder, its own name. */
export function roomOf(path, area, folders) {
  const stem = path.replace(/\.\w+$/, "");
  return folders.has(stem) || dirname(path) === area ? stem : dirname(path);
}

export function distinct(arrows) {
  return [...new Map(arrows.filter(([from, to]) => from !== to).map((arrow) => [arrow.join(" "), arrow])).values()];
}

/** Sets of names that reach each other, largest first. */
export function circlesOf(arrows) {
  const next = new Map();
  for (const [from, to] of arrows) next.set(from, [...(next.get(from) ?? []), to]);
  const reach = (start) => {
    const seen = new Set();
    const open = [start];
    for (let at = open.pop(); at !== undefined; at = open.pop())
      for (const to of next.get(at) ?? []) if (!seen.has(to)) open.push((seen.add(to), to));
    return seen;
  };
  const reached = new Map([...next.keys()].map((name) => [name, reach(name)]));
  const circles = new Map();
  for (const [name, names] of reached) {
    if (!names.has(name)) continue;
    const circle = [...names].filter((each) => reached.get(each)?.has(name));
    circles.set(circle.toSorted((left, right) => (left < right ? -1 : 1)).join(" "), circle);
  }
  return [...circles.values()].toSorted((left, right) => right.length - left.length);
}
