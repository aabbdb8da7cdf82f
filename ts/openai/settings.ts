// Settings change the form of a request. They are part of the model options, so that the request's hash includes them.

import type { OpenAIModelOptions, StructuredOutput } from "./options.js";

export interface Settings {
  structuredOutput: StructuredOutput;
  strictTools: boolean;
  sendReasoning: false | "reasoning_content" | "reasoning";
}

const DEFAULTS: Settings = { structuredOutput: "json_schema", strictTools: false, sendReasoning: false };

const ALLOWED: { readonly [Name in keyof Settings]: readonly Settings[Name][] } = {
  structuredOutput: ["json_schema", "json_object", "tool", "prompt"],
  strictTools: [true, false],
  sendReasoning: [false, "reasoning_content", "reasoning"],
};

const NAMES = Object.keys(DEFAULTS) as (keyof Settings)[];

/** Options that the adapter itself sets. */
const RESERVED = ["model", "messages", "stream"];

/**
 * The model options of an adapter, including the settings that differ from the defaults.
 * @throws TypeError that names the invalid option.
 */
export function ownModelOptions(options: OpenAIModelOptions): Readonly<Record<string, unknown>> {
  const settings = NAMES.flatMap((name): [string, unknown][] => {
    const value = options[name];
    return value === undefined || value === DEFAULTS[name] ? [] : [[name, value]];
  });
  const all = { ...options.modelOptions, ...Object.fromEntries(settings) };
  splitOptions(all);
  return Object.freeze(all);
}

/**
 * Separates the settings from the options of a call.
 * @throws TypeError that names the invalid option.
 */
export function splitOptions(all: Readonly<Record<string, unknown>> = {}): {
  settings: Settings;
  sent: Record<string, unknown>;
} {
  const reserved = RESERVED.find((name) => all[name] !== undefined);
  if (reserved !== undefined)
    throw new TypeError(`createOpenAIModel: modelOptions.${reserved} is set by the adapter; remove it`);
  const settings = { ...DEFAULTS };
  const sent = { ...all };
  for (const name of NAMES) {
    const value = sent[name];
    delete sent[name];
    if (value !== undefined) Object.assign(settings, { [name]: allowed(name, value) });
  }
  return { settings, sent };
}

function allowed(name: keyof Settings, value: unknown): unknown {
  const values: readonly unknown[] = ALLOWED[name];
  if (values.includes(value)) return value;
  const list = values.map((one) => JSON.stringify(one)).join(", ");
  throw new TypeError(`createOpenAIModel: ${name} must be one of ${list}, received ${String(value)}`);
}
