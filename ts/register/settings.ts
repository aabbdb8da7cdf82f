// The settings in the environment. The command line sets it; users of NODE_OPTIONS set it themselves.

import type { UrlPattern } from "../urls/patterns.js";

const MODES = ["record", "replay", "resume", "off"] as const;

export interface Settings {
  readonly mode: (typeof MODES)[number];
  /** The recording: written with "record", read with "replay" and "resume". */
  readonly file: string | undefined;
  /** With "resume": the file that the resumed run is recorded in. */
  readonly output: string | undefined;
  readonly redact: boolean;
  readonly allowHosts: readonly UrlPattern[];
  readonly ignore: readonly UrlPattern[];
}

/** The settings are wrong, so that the program must not start. */
export class SettingsError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** @throws SettingsError */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const mode = oneOf("AGENT_REWIND", env, MODES) ?? "record";
  const file = env["AGENT_REWIND_FILE"] || undefined;
  if ((mode === "replay" || mode === "resume") && file === undefined)
    throw new SettingsError(`AGENT_REWIND=${mode} needs AGENT_REWIND_FILE, the path of a recording`, 2);
  return {
    mode,
    file,
    output: env["AGENT_REWIND_OUTPUT"] || undefined,
    redact: oneOf("AGENT_REWIND_REDACT", env, ["on", "off"]) !== "off",
    allowHosts: list(env["AGENT_REWIND_ALLOW_HOSTS"]),
    ignore: list(env["AGENT_REWIND_IGNORE_HOSTS"]),
  };
}

function oneOf<T extends string>(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  values: readonly T[],
): T | undefined {
  const value = env[name];
  if (value === undefined || value === "") return undefined;
  if (!(values as readonly string[]).includes(value))
    throw new SettingsError(`${name} must be one of ${values.join(", ")}, received ${JSON.stringify(value)}`, 2);
  return value as T;
}

const list = (value = ""): string[] => value.split(",").flatMap((part) => part.trim() || []);
