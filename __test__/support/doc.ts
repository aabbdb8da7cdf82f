import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The code blocks of a page of docs/ whose first line is the name of their file, such as `// main.ts`. */
export function filesOf(page: string): Map<string, string> {
  const text = readFileSync(join(root, "docs", page), "utf8");
  const blocks = [...text.matchAll(/^```(?:ts|js)\n\/\/ (\S+\.(?:m?ts|mjs))\n([\s\S]*?)^```$/gm)];
  return new Map(blocks.map(([, name = "", code = ""]) => [name, code]));
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
  const text = readFileSync(join(root, "docs", page), "utf8");
  const blocks = text.matchAll(/^```(ts|js|text)\n(?:\/\/ (\S+\.(?:m?ts|mjs))\n)?([\s\S]*?)^```$/gm);
  const outputs = new Map<string, string>();
  let file = "";
  for (const [, language, name, body = ""] of blocks) {
    if (language === "text") outputs.set(file, body);
    else file = name ?? file;
  }
  return outputs;
}
