import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

interface Manifest {
  name: string;
  version: string;
  napi: { targets: string[] };
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  scripts?: Record<string, string>;
  bin?: Record<string, string>;
}

/** A project of somebody who has Node.js and no more. */
export interface Consumer {
  folder: string;
  /** Runs a script of `consumer/` and gives what it prints as JSON. */
  run(script: string, env?: Record<string, string>): unknown;
}

export interface InstallOptions {
  /** With the platform package, which npm adds on a supported machine. */
  platform: boolean;
  /** The name that the package is installed under; by default its own. */
  alias?: string;
  /** What else is installed: name to the development dependency of this repository that it is. */
  others?: Record<string, string>;
}

const root = fileURLToPath(new URL("../../", import.meta.url));

export const packageJson: Manifest = readManifest(root);

const tarballs = readdirSync(join(root, "npm"))
  .filter((name) => name.endsWith(".tgz"))
  .map((name) => join(root, "npm", name));

/** The tarball of the package itself, without an addon. */
export const mainTarball: string = join(root, "npm", `${packageJson.name}-${packageJson.version}.tgz`);

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Installs the tarballs into an empty folder: no network, no install scripts, no compiler. */
export function install({ platform, alias, others = {} }: InstallOptions): Consumer {
  const folder = mkdtempSync(join(tmpdir(), "agent-rewind-consumer-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(fileURLToPath(new URL("consumer", import.meta.url)), folder, { recursive: true });

  const bin = join(folder, "bin");
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, basename(process.execPath)));
  const env = { HOME: folder, PATH: bin };
  const node = (args: string[], more: Record<string, string> = {}): string => {
    const child = spawnSync(process.execPath, args, { cwd: folder, env: { ...env, ...more }, encoding: "utf8" });
    if (child.status !== 0) throw new Error(`${args.join(" ")} failed:\n${child.stderr}`);
    return child.stdout;
  };

  const flags = ["--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const addons = platform ? tarballs.filter((tarball) => tarball !== mainTarball) : [];
  const main = alias === undefined ? mainTarball : `${alias}@file:${mainTarball}`;
  node([npmScript(), "install", ...flags, ...addons, main]);
  for (const [name, source] of Object.entries(others)) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", source), link, "junction");
  }
  return { folder, run: (script, more) => JSON.parse(node([script], more)) as unknown };
}

/** Runs a script out of node_modules and gives its exit code and all that it printed. */
export function runTool(script: string, args: string[], cwd = root): { code: number | null; text: string } {
  const path = join(root, "node_modules", script);
  const child = spawnSync(process.execPath, [path, ...args], { cwd, encoding: "utf8" });
  return { code: child.status, text: child.stdout + child.stderr };
}

/** npm's own script: what PATH has is a launcher, which wants a shell. */
function npmScript(): string {
  const script = process.env["npm_execpath"];
  if (script === undefined) throw new Error("run these tests by `npm run test:package`");
  return script;
}
