<<<<<<< HEAD
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
=======
// The pages of docs/: their code and its output.
>>>>>>> 050eb2d (test: name the shown behavior in the titles of support)

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

<<<<<<< HEAD
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
=======
interface Block {
  readonly language: string;
  /** The file name on the first line of the code, such as `// main.ts`. */
  readonly file: string | undefined;
  /** The code without that line. */
  readonly code: string;
>>>>>>> 050eb2d (test: name the shown behavior in the titles of support)
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

<<<<<<< HEAD
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
=======
/** The code blocks of a page that name their file, by file name. */
export function filesOf(page: string): Map<string, string> {
  const named = blocksOf(page).flatMap(({ file, code }): [string, string][] =>
    file === undefined ? [] : [[file, code]],
  );
  return new Map(named);
}

/** Writes the files of a page into a folder and returns their names. */
export function writePage(page: string, folder: string): string[] {
  const files = filesOf(page);
  if (files.size === 0) throw new Error(`docs/${page} has no code with the name of a file`);
  for (const [name, code] of files) writeFileSync(join(folder, name), code);
  return [...files.keys()];
}

/** The outputs that a page shows: a text block is the output of the file before it. */
export function outputsOf(page: string): Map<string, string> {
  const outputs = new Map<string, string>();
  let last = "";
  for (const { language, file, code } of blocksOf(page)) {
    if (language === "text") outputs.set(last, code);
    else last = file ?? last;
  }
  return outputs;
}

/** The code blocks of a page in one language, in order. */
export function codeBlocks(page: string, language: string): string[] {
  return blocksOf(page)
    .filter((block) => block.language === language)
    .map(({ code }) => code);
}

/** Runs the `js` blocks of a page, in order, as one program and returns its output. */
export function runPage(page: string, env: Record<string, string> = {}): Promise<string> {
  const blocks = codeBlocks(page, "js");
  if (blocks.length === 0) throw new Error(`docs/${page} has no code to run`);
  return runProgram(blocks.join("\n"), { NODE_ENV: "development", ...env });
}

/** Runs a program in a child process and a new folder and returns its output. */
export function runProgram(code: string, env: Record<string, string> = {}): Promise<string> {
  const file = join(temporaryFolder(), "program.mjs");
  writeFileSync(file, code);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file], {
      cwd: dirname(file),
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    let errors = "";
    child.stdout.on("data", (chunk) => (out += String(chunk)));
    child.stderr.on("data", (chunk) => (errors += String(chunk)));
    child.on("error", reject);
    child.on("close", (status) => {
      if (status === 0) resolve(out);
      else reject(new Error(`the program ended with ${status}:\n${errors}`));
    });
  });
}
>>>>>>> 050eb2d (test: name the shown behavior in the titles of support)
