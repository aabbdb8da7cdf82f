import { createHash } from "node:crypto";
import { format, parse } from "node:path";

const MAX_NAME = 60;

/** The files of the agents that write beside one path: each has its own. */
export class AgentPaths {
  readonly #base: string;
  readonly #owners = new Map<string, string>();

  constructor(base: string) {
    this.#base = base;
  }

  /** The path for an agent; the base for one without a name. */
  of(agentName: string): string {
    if (agentName === "") return this.#base;
    const slug = slugOf(agentName);
    const owner = this.#owners.get(slug) ?? agentName;
    this.#owners.set(slug, owner);
    return beside(this.#base, `_${owner === agentName ? slug : `${slug}_${digest(agentName)}`}`);
  }
}

/** `context.txt` and `_a` make `context_a.txt`. */
export function beside(path: string, suffix: string): string {
  const { dir, name, ext } = parse(path);
  return format({ dir, name: `${name}${suffix}`, ext });
}

/** `Agent A` → `agent_a`: letters and digits, so that no name leads out of the folder. */
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
