import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { AgentSnapshot, TraceEvent } from "agent-rewind";

export interface Cut {
  options: { spanId?: string; anchor?: "before" | "after" };
  why: string;
  eventsKept: number | null;
  callsStillOwed: { model: number; tool: number };
}

export interface FrameTruth {
  span: string;
  agentId: string;
  prompt: string[];
  tool: string[];
  gens: number;
  status: string;
  parentAgentSpan: string | null;
  memory: Record<string, unknown>;
}

export interface RecordedScenario {
  name: string;
  jsonl: string;
  events: TraceEvent[];
  frames: FrameTruth[];
  cuts: Cut[];
  dump(name: "mid" | "end"): AgentSnapshot;
  truth?: AgentSnapshot;
}

const folder = fileURLToPath(new URL("../fixtures/traces/", import.meta.url));

export const scenarioNames = [
  "a-single-turn",
  "b-tool-loop",
  "c-nested-3",
  "d-parallel-5",
  "f-reborn-3",
  "g-child-fails",
  "k-unicode-deep-numbers",
  "m-same-prompt-thrice",
] as const;

/** A recorded scenario of the fixtures. */
export function recorded(name: (typeof scenarioNames)[number]): RecordedScenario {
  const read = (file: string): string => readFileSync(`${folder}${name}/${file}`, "utf8");
  const jsonl = read("trace.jsonl");
  const meta = JSON.parse(read("meta.json")) as Pick<RecordedScenario, "frames" | "cuts">;
  const scenario: RecordedScenario = {
    name,
    jsonl,
    events: jsonl
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as TraceEvent),
    frames: meta.frames,
    cuts: meta.cuts,
    dump: (which) => JSON.parse(read(`snapshot-${which}.json`)) as AgentSnapshot,
  };
  try {
    scenario.truth = JSON.parse(read("truth-latest.json")) as AgentSnapshot;
  } catch {
    // Not every scenario has this file.
  }
  return scenario;
}
