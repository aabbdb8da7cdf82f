import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { temporaryFolder } from "./process.js";

/** The code blocks of a page of the documentation, in order. */
export function codeBlocks(page: string, language: string): string[] {
  const text = readFileSync(fileURLToPath(new URL(`../../docs/${page}`, import.meta.url)), "utf8");
  return [...text.matchAll(/^```(\w+)[^\n]*\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , code]) => code ?? "");
}

/** Runs a program in a process of its own, and gives what it prints. */
export function runProgram(code: string, env: Record<string, string> = {}): Promise<string> {
  const file = join(temporaryFolder(), "program.mjs");
  writeFileSync(file, code);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file], {
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
