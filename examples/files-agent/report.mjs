// The results of the phases, as a table for people and as data for programs.
import { checkPromises, countRepeated } from "./promises.mjs";
import { formatTable } from "./table.mjs";

/** @returns {{ allKept: boolean, data: object, text: string }} */
export function createReport({ recorded, replays, control, sent, requests }) {
  const phases = [
    toRow(recorded),
    ...replays.map(({ phase, finished }) => toRow(phase, countRepeated(recorded, phase, finished))),
    ...(control ? [toRow(control)] : []),
  ];
  const promises = [
    ...checkPromises({ recorded, replays, control }),
    {
      promise: "every request sent arrived",
      kept: sent.count === requests.count,
      detail: `sent ${sent.count}, arrived ${requests.count}`,
    },
  ];
  const broken = promises.filter(({ kept }) => !kept);
  const answer = replays[0].phase.result?.answer ?? null;
  return {
    allKept: broken.length === 0,
    data: { phases, promises, answer },
    text: [
      "",
      answer ?? "There is no answer.",
      "",
      toTable(phases),
      "",
      `${promises.length - broken.length} of ${promises.length} promises kept.`,
      ...broken.map(({ promise, detail }) => `BROKEN  ${promise}: ${detail}`),
    ].join("\n"),
  };
}

function toRow(phase, repeated = { model: 0, tool: 0 }) {
  return {
    phase: phase.name,
    modelCalls: phase.requests.length,
    toolCalls: phase.toolCalls.length,
    replayedModelCalls: phase.replayed.model,
    replayedToolCalls: phase.replayed.tool,
    repeatedModelCalls: repeated.model,
    repeatedToolCalls: repeated.tool,
    ms: Math.round(phase.ms),
  };
}

function toTable(phases) {
  return formatTable(
    ["phase", "model calls", "tool calls", "replayed", "repeated", "ms"],
    phases.map((row) => [
      row.phase,
      row.modelCalls,
      row.toolCalls,
      `${row.replayedModelCalls} + ${row.replayedToolCalls}`,
      `${row.repeatedModelCalls} + ${row.repeatedToolCalls}`,
      row.ms,
    ]),
  );
}
