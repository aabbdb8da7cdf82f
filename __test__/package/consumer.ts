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

/** A project on a machine that has nothing but Node.js. */
export interface Consumer {
  folder: string;
  /** Runs a script of `consumer/` and parses its output as JSON. */
  run(script: string, env?: Record<string, string>): unknown;
}

export interface InstallOptions {
  /** Installs the platform package too, which npm adds on a supported machine. */
  platform: boolean;
  /** The name under which the package is installed. Defaults to its own name. */
  alias?: string;
  /** Other installed packages: maps a name to the development dependency of this repository to install. */
  others?: Record<string, string>;
}

const root = fileURLToPath(new URL("../../", import.meta.url));

export const packageJson: Manifest = readManifest(root);

/** All tarballs that were packed. */
export const tarballs: string[] = readdirSync(join(root, "npm"))
  .filter((name) => name.endsWith(".tgz"))
  .map((name) => join(root, "npm", name));

/** The tarball of the package itself, without an addon. */
export const mainTarball: string = join(root, "npm", `${packageJson.name}-${packageJson.version}.tgz`);

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Installs the tarballs into an empty folder without network, install scripts or a compiler. */
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

/** Runs a script from node_modules. Returns its exit code and all output. */
export function runTool(script: string, args: string[], cwd = root): { code: number | null; text: string } {
  const path = join(root, "node_modules", script);
  const child = spawnSync(process.execPath, [path, ...args], { cwd, encoding: "utf8" });
  return { code: child.status, text: child.stdout + child.stderr };
}

/** The script of npm itself. The npm in PATH is a launcher that needs a shell. */
function npmScript(): string {
  const script = process.env["npm_execpath"];
  if (script === undefined) throw new Error("run these tests by `npm run test:package`");
  return script;
}
