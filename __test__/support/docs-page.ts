// The pages of docs/: the code on them, and what it prints.

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { temporaryFolder } from "./process.js";

interface Block {
  readonly language: string;
  /** On its first line, such as `// main.ts`. */
  readonly file: string | undefined;
  /** Without that line. */
  readonly code: string;
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(fileURLToPath(new URL(`../../docs/${page}`, import.meta.url)), "utf8");
  const blocks = text.matchAll(/^```(\w+)[^\n]*\n(?:\/\/ (\S+\.(?:m?[tj]s|jsonl?))\n)?(.*?)^```$/gms);
  return [...blocks].map(([, language = "", file, code = ""]) => ({ language, file, code }));
}

/** The code blocks of a page that name their file, by that name. */
export function filesOf(page: string): Map<string, string> {
  const named = blocksOf(page).flatMap(({ file, code }): [string, string][] =>
    file === undefined ? [] : [[file, code]],
  );
  return new Map(named);
}

/** Writes the files of a page into a folder and gives their names. */
export function writePage(page: string, folder: string): string[] {
  const files = filesOf(page);
  if (files.size === 0) throw new Error(`docs/${page} has no code with the name of a file`);
  for (const [name, code] of files) writeFileSync(join(folder, name), code);
  return [...files.keys()];
}

/** What a page says that its programs print: a block of text is the output of the file before it. */
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

/** Runs the `js` blocks of a page, in order, as one program, and gives what it prints. */
export function runPage(page: string, env: Record<string, string> = {}): Promise<string> {
  const blocks = codeBlocks(page, "js");
  if (blocks.length === 0) throw new Error(`docs/${page} has no code to run`);
  return runProgram(blocks.join("\n"), { NODE_ENV: "development", ...env });
}

/** Runs a program in a process and a folder of its own, and gives what it prints. */
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
