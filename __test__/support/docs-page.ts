// The programs of the documentation: README.md and docs/*.md.
//
// A block of code belongs to a file. Its first line names it (`// main.mts`), or a comment before the fence does, which
// a reader does not see:
//
//     <!-- example: main.mts -->
//
// The comment can hold code: that which the printed code takes as given. A comment that no fence follows is code of the
// file too, such as a call of what was printed. Blocks and comments of one file are one program, in order.
//
// A block of text after a program is its output.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

export interface Page {
  /** From the root of the repository, such as `docs/replay.md`. */
  readonly path: string;
  /** Code by the name of its file. */
  readonly files: ReadonlyMap<string, string>;
  /** The printed output of programs, by the name of the file. */
  readonly outputs: ReadonlyMap<string, string>;
  /** Lines of shell blocks. */
  readonly commands: readonly string[];
  readonly python: readonly string[];
  /** The first lines of code blocks that belong to no file. */
  readonly strays: readonly string[];
}

const PIECE =
  /^<!-- example: (?<named>\S+)(?:\n(?<hidden>[\s\S]*?)^)?\s*-->\n|^```(?<language>\w+)[^\n]*\n(?:\/\/ (?<file>\S+\.[mc]?[tj]s|\S+\.jsonl?)\n)?(?<code>[\s\S]*?)^```$/gm;
const CODE = new Set(["js", "mjs", "ts", "mts", "jsonl", "json"]);

function readPage(path: string): Page {
  const files = new Map<string, string>();
  const outputs = new Map<string, string>();
  const commands: string[] = [];
  const python: string[] = [];
  const strays: string[] = [];
  const text = readFileSync(join(root, path), "utf8");
  let last = "";
  let marked: { readonly file: string; readonly end: number } | undefined;
  for (const { index, 0: whole, groups = {} } of text.matchAll(PIECE)) {
    const { named, hidden = "", language = "", code = "" } = groups;
    const isMarked = marked !== undefined && text.slice(marked.end, index).trim() === "";
    const file = named ?? groups["file"] ?? (isMarked ? marked?.file : undefined);
    marked = named === undefined ? undefined : { file: named, end: index + whole.length };
    if (named !== undefined || CODE.has(language)) {
      if (file === undefined) strays.push(code.split("\n", 1)[0] ?? "");
      else files.set(file, `${files.get(file) ?? ""}${hidden}${code}`);
      last = file ?? "";
    } else if (language === "text") {
      if (last !== "") outputs.set(last, code);
    } else {
      if (language === "python") python.push(code);
      if (["sh", "bash", "console"].includes(language)) commands.push(...code.trimEnd().split("\n"));
      last = "";
    }
  }
  return { path, files, outputs, commands, python, strays };
}

export const pages: readonly Page[] = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
].map(readPage);

export function pageOf(path: string): Page {
  const page = pages.find((one) => one.path === path);
  if (page === undefined) throw new Error(`there is no page ${path}`);
  return page;
}

/** Writes the files of a page into a folder and returns their names. */
export function writePage(path: string, folder: string): string[] {
  const { files } = pageOf(path);
  if (files.size === 0) throw new Error(`${path} has no code`);
  for (const [name, code] of files) writeFileSync(join(folder, name), code);
  return [...files.keys()];
}

/** The `@example` blocks in the doc comments of the sources, by a name for each. */
export const commentExamples: ReadonlyMap<string, string> = new Map(
  readdirSync(join(root, "ts"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .toSorted()
    .flatMap((path) => {
      const source = readFileSync(join(root, "ts", path), "utf8");
      const blocks = source.matchAll(/^ *\* @example\n *\* ```ts\n(?<code>[\s\S]*?)^ *\* ```$/gm);
      return [...blocks].map(({ groups = {} }, index): [string, string] => [
        `${path.replaceAll(/[/\\]/g, "-").replace(/\.ts$/, "")}-${index}.mts`,
        (groups["code"] ?? "").replaceAll(/^ *\* ?/gm, ""),
      ]);
    }),
);
