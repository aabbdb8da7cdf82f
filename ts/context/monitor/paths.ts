import { createHash } from "node:crypto";
import { format, parse } from "node:path";

const MAX_NAME = 60;

/** Assigns each agent its own file next to one base path. */
export class AgentPaths {
  readonly #base: string;
  readonly #owners = new Map<string, string>();

  constructor(base: string) {
    this.#base = base;
  }

  /** The path for an agent. An agent without a name gets the base path. */
  of(agentName: string): string {
    if (agentName === "") return this.#base;
    const slug = slugOf(agentName);
    const owner = this.#owners.get(slug) ?? agentName;
    this.#owners.set(slug, owner);
    return withSuffix(this.#base, `_${owner === agentName ? slug : `${slug}_${digest(agentName)}`}`);
  }
}

/** Adds a suffix to a file name: `context.txt` and `_a` become `context_a.txt`. */
export function withSuffix(path: string, suffix: string): string {
  const { dir, name, ext } = parse(path);
  return format({ dir, name: `${name}${suffix}`, ext });
}

/** `Agent A` → `agent_a`. Only letters and digits remain, so no name can lead out of the folder. */
function slugOf(agentName: string): string {
  const slug = agentName
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, "_")
    .replaceAll(/^_+|_+$/g, "");
  if (slug === "") return `agent_${digest(agentName)}`;
  return slug.length > MAX_NAME
    ? `${slug.slice(0, MAX_NAME / 2).replace(/[\uD800-\uDBFF]$/, "")}_${digest(agentName)}`
    : slug;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
