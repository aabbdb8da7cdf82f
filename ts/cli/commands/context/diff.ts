import { defined } from "../../../values/defined.js";
import { differingItems, sameContent, type Boundary } from "../../boundaries.js";
import { EXIT, type ExitCode } from "../../exit.js";
import { differences, type Difference } from "../../json-diff.js";
import { visible, type Output, type Outputs } from "../../output.js";
import { printDifferences } from "../diff.js";
import { boundariesOf } from "./read.js";

interface ContextChange {
  agent: string;
  /** Number of the boundary among those of the agent, from 0. */
  index: number;
  change: "added" | "removed" | "messages" | "tools";
  before?: { file: string; line: number; hash?: string };
  after?: { file: string; line: number; hash?: string };
  /** Indices of the messages or tools that differ, if known. */
  items?: number[];
  differences?: Difference[];
}

/** Prints the differences between the contexts in two logs, agent by agent. Times and sessions are ignored. */
export async function diffContext(paths: readonly string[], outputs: Outputs, json: boolean): Promise<ExitCode> {
  const [first, ...others] = paths as [string, ...string[]];
  const before = byAgent(await boundariesOf(first, outputs));
  const results: { before: string; after: string; equal: boolean; changes: ContextChange[] }[] = [];
  for (const path of others) {
    const changes = contextChanges(before, byAgent(await boundariesOf(path, outputs)));
    results.push({ before: first, after: path, equal: changes.length === 0, changes });
  }
  const { out } = outputs;
  if (json) await out.json(results);
  else for (const { changes } of results) for (const change of changes) await printChange(change, out);
  return results.every(({ equal }) => equal) ? EXIT.ok : EXIT.found;
}

function byAgent(boundaries: readonly Boundary[]): Map<string, Boundary[]> {
  const agents = new Map<string, Boundary[]>();
  for (const boundary of boundaries) {
    const list = agents.get(boundary.agent);
    if (list === undefined) agents.set(boundary.agent, [boundary]);
    else list.push(boundary);
  }
  return agents;
}

function contextChanges(
  before: ReadonlyMap<string, Boundary[]>,
  after: ReadonlyMap<string, Boundary[]>,
): ContextChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((agent) => {
    const [left, right] = [before.get(agent) ?? [], after.get(agent) ?? []];
    return Array.from({ length: Math.max(left.length, right.length) }, (_, index) =>
      changesAt(agent, index, left[index], right[index]),
    ).flat();
  });
}

function changesAt(
  agent: string,
  index: number,
  before: Boundary | undefined,
  after: Boundary | undefined,
): ContextChange[] {
  if (before === undefined)
    return after === undefined ? [] : [{ agent, index, change: "added", after: placeOf(after) }];
  if (after === undefined) return [{ agent, index, change: "removed", before: placeOf(before) }];
  return (["messages", "tools"] as const).flatMap((change): ContextChange[] => {
    if (sameContent(before, after, change)) return [];
    const known = before[change] !== undefined && after[change] !== undefined;
    const hash = change === "messages" ? "messageHash" : "toolsHash";
    return [
      {
        agent,
        index,
        change,
        before: placeOf(before, before[hash]),
        after: placeOf(after, after[hash]),
        items: differingItems(before, after, change),
        ...(known ? { differences: differences(before[change], after[change], 10) } : {}),
      },
    ];
  });
}

function placeOf({ file, line }: Boundary, hash?: string): { file: string; line: number; hash?: string } {
  return defined({ file, line, hash });
}

async function printChange(change: ContextChange, out: Output): Promise<void> {
  const { agent, index, before, after, items = [], differences: list } = change;
  const name = `${agent === "" ? "-" : visible(agent)} ${index}`;
  const place = ({ file, line }: { file: string; line: number }): string => `${visible(file)}:${line}`;
  if (before === undefined)
    return out.line(out.style("green", `+ ${name}  ${after === undefined ? "" : place(after)}`));
  if (after === undefined) return out.line(out.style("red", `- ${name}  ${place(before)}`));
  const which = items.length === 0 ? "" : `  (${items.slice(0, 10).join(", ")}${items.length > 10 ? ", …" : ""})`;
  await out.line(
    `${out.style("yellow", "~")} ${name}  ${change.change}${which}  ` +
      `${place(before)} ${visible(before.hash ?? "-")} → ${place(after)} ${visible(after.hash ?? "-")}`,
  );
  if (list !== undefined) await printDifferences(list, out);
}
