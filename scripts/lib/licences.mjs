// The third-party code in the packages: crates that the addon contains, and npm modules that dist/ contains.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { BUNDLED_INTERCEPTORS } from "./interceptors.mjs";
import { at, readJson, root } from "./paths.mjs";
import { BUNDLED } from "./zod-to-json-schema.mjs";

/** SPDX ids of licences whose terms the notices fulfil. */
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BSL-1.0",
  "CC0-1.0",
  "ISC",
  "MIT",
  "Unicode-3.0",
  "Unlicense",
  "Zlib",
]);

/** @typedef {{ name: string, version: string, licence: string, authors: string, folder: string }} Part */

/**
 * The crates that are linked into the addon on any platform, from Cargo.lock. Build scripts and procedural macros run
 * only while it is built.
 *
 * @returns {Part[]}
 */
export function linkedCrates() {
  const args = ["metadata", "--format-version", "1", "--locked"];
  const text = execFileSync("cargo", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
  const { packages, resolve } = JSON.parse(text);
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const found = new Map(packages.map((crate) => [crate.id, crate]));
  const isMacro = (id) => found.get(id).targets.some(({ kind }) => kind.includes("proc-macro"));
  const linked = new Set();
  const open = [resolve.root];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (linked.has(id) || isMacro(id)) continue;
    linked.add(id);
    const normal = nodes.get(id).deps.filter(({ dep_kinds: kinds }) => kinds.some(({ kind }) => kind === null));
    open.push(...normal.map(({ pkg }) => pkg));
  }
  return [...linked]
    .map((id) => found.get(id))
    .filter(({ source }) => source !== null)
    .map(({ name, version, license, authors, manifest_path: path }) => ({
      name,
      version,
      licence: license ?? "",
      authors: authors.join(", ") || `the authors of ${name}`,
      folder: dirname(path),
    }))
    .toSorted(byName);
}

/**
 * The npm modules whose code is in dist/.
 *
 * @returns {Part[]}
 */
export function bundledModules() {
  return [...BUNDLED, ...BUNDLED_INTERCEPTORS]
    .map((name) => {
      const { version, license } = readJson("node_modules", name, "package.json");
      return {
        name,
        version,
        licence: license ?? "",
        authors: `the authors of ${name}`,
        folder: at("node_modules", name),
      };
    })
    .toSorted(byName);
}

const byName = (left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0);

/** The parts that may not be shipped: their licence is not on the list. */
export const refused = (parts) => parts.filter(({ licence }) => !isAllowed(licence));

/** True if an SPDX expression allows a licence of the list. The old form "MIT/Apache-2.0" is an OR. */
export function isAllowed(expression) {
  const tokens = expression.replaceAll("/", " OR ").match(/\(|\)|[^\s()]+/g) ?? [];
  let next = 0;
  const one = () => {
    const token = tokens[next++];
    if (token !== "(") return ALLOWED.has(token);
    const value = any();
    next += 1;
    return value;
  };
  const chain = (operator, operand, combine) => () => {
    let value = operand();
    while (tokens[next] === operator) {
      next += 1;
      const right = operand();
      value = combine(value, right);
    }
    return value;
  };
  const all = chain("AND", one, (left, right) => left && right);
  const any = chain("OR", all, (left, right) => left || right);
  const value = any();
  // An exception (WITH) or a rest that is not understood needs a decision by a person.
  return value && next === tokens.length;
}

/** The text of the licence of a part that contains none. */
function textFor({ name, licence, authors }) {
  if (licence !== "MIT") throw new Error(`${name} contains no text of its licence, ${licence}`);
  const text = readFileSync(at("LICENSE-MIT"), "utf8").trim();
  return text.replace(/^Copyright.*$/m, `Copyright (c) ${authors}`);
}

/**
 * The text of the file THIRD-PARTY-NOTICES: the names of all parts and the texts of their licences, equal texts once.
 *
 * @param {Part[]} parts
 */
export function notices(parts) {
  const texts = new Map();
  for (const part of parts) {
    const files = readdirSync(part.folder).filter((name) => /^(?:licen[cs]e|copying|notice|unlicense)/i.test(name));
    const found = files.toSorted().map((name) => readFileSync(join(part.folder, name), "utf8").trim());
    if (found.length === 0) found.push(textFor(part));
    for (const text of found) texts.set(text, [...(texts.get(text) ?? []), part]);
  }
  const list = parts.map(({ name, version, licence }) => `- ${name} ${version}: ${licence}`);
  const sections = [...texts].map(
    ([text, owners]) => `${owners.map(({ name, version }) => `${name} ${version}`).join(", ")}\n\n${text}`,
  );
  const line = `\n\n${"-".repeat(80)}\n\n`;
  return [`This package contains code of:\n\n${list.join("\n")}`, ...sections].join(line) + "\n";
}
