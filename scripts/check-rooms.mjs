// Part of npm run check: each folder of the Rust core uses only the folders that the table below names.
// The table cannot contain a cycle, because a folder may only name folders above it in the table.
import { readdirSync, readFileSync } from "node:fs";
import { sep } from "node:path";
import { at } from "./lib/paths.mjs";
import { main } from "./lib/steps.mjs";

const CORE = "crates/core/src";
/** The rooms of the core, from the bottom up, and the rooms that each one uses. */
const ROOMS = {
  util: [],
  json: ["util"],
  hash: ["json"],
  model: ["util", "json", "hash"],
  provider: [],
  redact: ["json"],
  diff: ["json"],
  boundary: ["json", "hash"],
  retry_rule: ["json", "model"],
  replay: ["util", "json", "hash", "model", "diff", "retry_rule"],
  fork: ["util", "json", "hash", "model", "retry_rule"],
  snapshot: ["util", "json", "hash", "model", "replay"],
  record: ["util", "json", "hash", "model", "retry_rule", "replay"],
  restore: ["util", "json", "hash", "model", "retry_rule", "snapshot"],
  view: ["json", "model", "provider", "snapshot"],
};
/** The rooms inside `restore`. */
const RESTORE_ROOMS = {
  error: [],
  options: [],
  read: ["error", "options"],
  order: ["error", "options", "read"],
  rebuild: ["error", "read", "order"],
};

await main(async () => {
  const faults = [...check(CORE, ROOMS, "crate"), ...check(`${CORE}/restore`, RESTORE_ROOMS, "crate::restore")];
  if (faults.length > 0) throw new Error(`rooms of the core:\n  ${faults.join("\n  ")}`);
});

/**
 * Compares the arrows between the rooms in `folder` with a table of them. `path` is the Rust path of the folder.
 */
function check(folder, table, path) {
  const rooms = Object.keys(table);
  const faults = [];
  const foreignImpls = foreignImplsIn(folder);
  rooms.forEach((room, index) => {
    for (const used of table[room].filter((other) => !rooms.slice(0, index).includes(other))) {
      faults.push(`${room} -> ${used}: the table must list ${used} before ${room}`);
    }
  });
  const unused = new Set(rooms.flatMap((room) => table[room].map((used) => `${room} -> ${used}`)));
  for (const file of rustFiles(folder)) {
    const room = roomOf(file);
    if (!file.includes("/") && !rooms.includes(room)) continue;
    if (!rooms.includes(room)) {
      faults.push(`${folder}/${file}: the table in scripts/check-rooms.mjs does not have the room ${room}`);
      continue;
    }
    const code = withoutComments(readFileSync(at(folder, file), "utf8"));
    if (leavesRoom(file, code)) faults.push(`${folder}/${file}: super:: leaves the room; write ${path}::`);
    for (const type of foreignImpls(room, code)) {
      faults.push(`${folder}/${file}: impl ${type}: only the room of the type may add methods to it; write functions`);
    }
    for (const used of usedIn(code, path)) {
      if (used === room) continue;
      unused.delete(`${room} -> ${used}`);
      if (!table[room].includes(used)) faults.push(`${folder}/${file}: ${room} must not use ${path}::${used}`);
    }
  }
  for (const arrow of unused) faults.push(`${arrow}: nothing uses it any more; remove it from the table`);
  return faults;
}

/** The folder of a file, or the name of a file that is in none. */
function roomOf(file) {
  return file.split("/")[0].replace(/\.rs$/, "");
}

function rustFiles(folder) {
  const files = readdirSync(at(folder), { recursive: true }).map((file) => file.split(sep).join("/"));
  return files.filter((file) => file.endsWith(".rs")).toSorted((a, b) => (a < b ? -1 : 1));
}

function withoutComments(source) {
  return source.replaceAll(/^\s*\/\/.*$/gm, "").replaceAll(/\s+/g, " ");
}

/** True if a chain of `super::` leads out of the room. */
function leavesRoom(file, code) {
  const depth = file.split("/").length - (file.endsWith("/mod.rs") ? 2 : 1);
  const longest = Math.max(
    0,
    ...Array.from(code.matchAll(/(?:super::)+/g), ([chain]) => chain.length / "super::".length),
  );
  return longest > depth;
}

/**
 * Finds the types that a room gives methods although another room declares them. A call of such a method is an arrow
 * that no path shows.
 */
function foreignImplsIn(folder) {
  const declared = new Map();
  for (const file of rustFiles(folder)) {
    const room = roomOf(file);
    const types = declared.get(room) ?? declared.set(room, new Set()).get(room);
    const code = withoutComments(readFileSync(at(folder, file), "utf8"));
    for (const [, type] of code.matchAll(/\b(?:struct|enum|trait|type) (\w+)/g)) types.add(type);
  }
  return (room, code) => {
    const types = Array.from(code.matchAll(/(?:^|[;}\]] )impl(?:<[^>]*>)? (\w+)(?:<[^>]*>)? \{/g), ([, type]) => type);
    return types.filter((type) => !declared.get(room).has(type));
  };
}

/** The first segments of all paths that start with `path::`, including those in `use path::{a, b}`. */
function usedIn(code, path) {
  const used = new Set();
  for (const { index, 0: start } of code.matchAll(new RegExp(`\\b${path}::`, "g"))) {
    for (const name of firstSegments(code.slice(index + start.length))) used.add(name);
  }
  return used;
}

function firstSegments(rest) {
  if (!rest.startsWith("{")) return [/^\w*/.exec(rest)[0]];
  const names = [];
  let depth = 0;
  for (const [token] of rest.matchAll(/[{},]|\w+/g)) {
    if (token === "{") depth += 1;
    else if (token === "}") depth -= 1;
    else if (token === "," && depth === 1) names.push("");
    else if (depth === 1 && !names.at(-1)) names.splice(Math.max(names.length - 1, 0), 1, token);
    if (depth === 0) break;
  }
  return names.filter(Boolean);
}
