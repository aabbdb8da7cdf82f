// No field of a call or a frame gets lost: in JSON, in a run, in a trace, in a fork, in a recording, in `inspect --json`.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  runWith,
  type AgentSnapshot,
  type BudgetState,
  type CallMeta,
  type ErrorInfo,
  type FrameState,
  type TokenUsage,
} from "agent-rewind";
import { dumpSnapshot, forkSnapshot, parseSnapshot, restoreSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { beforeAll, expect, it } from "vitest";

import type { Row } from "../ts/view/run-view.js";
import { readRecording, recordingText, writeRecording } from "../ts/recording/files.js";
import { cli } from "./cli/support.js";
import {
  APART,
  CARRIED_OVER,
  everyFieldOptions,
  everyFieldProgram,
  recordEveryField,
  type EveryField,
} from "./support/every-field.js";
import { fieldsOf, fieldsOfRows, fieldsOfTypes, isDefault, type Field, type Fields } from "./support/fields.js";
import { temporaryFolder } from "./support/process.js";

let sample: EveryField;
beforeAll(async () => void (sample = await recordEveryField()));

interface Passage {
  readonly name: string;
  /** The snapshots that pass, and their fields on the other side. */
  pass(): [from: AgentSnapshot, to: Fields][] | Promise<[from: AgentSnapshot, to: Fields][]>;
  /** Fields that do not pass, by design, and why. */
  readonly lost?: Readonly<Partial<Record<Field, string>>>;
  /** Fields of single places that do not pass, by design, and why. */
  readonly lostAt?: Readonly<Record<string, { readonly fields: RegExp; readonly why: string }>>;
  /** Returns the part of a value that passes, for fields that pass only in part. */
  readonly part?: Readonly<Partial<Record<Field, (value: never) => unknown>>>;
}

/** Several fields with one reason. */
function all(fields: readonly Field[], why: string): NonNullable<Passage["lost"]> {
  return Object.fromEntries(fields.map((field) => [field, why]));
}

const CARRIED_OVER_FIELDS: Field[] = [`CallRecord.${CARRIED_OVER}`, `AgentFrameSnapshot.${CARRIED_OVER}`];

const DROPPED = all(["CallRecord.dropped"], "Only a fork sets it, and the run executes the call.");

const PASSAGES: Passage[] = [
  {
    name: "JSON",
    pass: () => [sample.whole, sample.early].map((from) => [from, fieldsOf(throughJson(from))]),
  },
  {
    name: "a run that replays the snapshot",
    pass: async () => {
      const recorded = withLongDurations(sample.whole);
      const replaying = runWith(
        async () => {
          await everyFieldProgram();
          return dumpSnapshot();
        },
        { ...everyFieldOptions, snapshot: recorded, mode: "resume" },
      );
      return [[recorded, fieldsOf(await replaying)]];
    },
    lost: { ...all(CARRIED_OVER_FIELDS, "The run has asked for all of it."), ...DROPPED },
    lostAt: {
      "not JSON": {
        fields: /\.(?:meta|durationMs|sameTick)$/,
        why: "A call whose output could not be recorded is executed again.",
      },
      "step:inexact": {
        fields: /\.(?:meta|durationMs)$/,
        why: "A call with content in its request that its hash does not cover is executed again.",
      },
    },
  },
  {
    name: "a resumed run that stops early",
    pass: async () => {
      const stopping = runWith(() => dumpSnapshot(), {
        ...everyFieldOptions,
        snapshot: throughJson(sample.early),
        mode: "resume",
      });
      return [
        [sample.whole, fieldsOf(sample.early)],
        [sample.early, fieldsOf(await stopping)],
      ];
    },
    lostAt: {
      "root (": { fields: /\.memory(?:Hashes)?$/, why: "The root has started again, with the memory of its start." },
    },
  },
  {
    name: "a trace",
    pass: () => [[sample.whole, fieldsOf(restoreSnapshot(sample.events))]],
    lost: {
      ...all(CARRIED_OVER_FIELDS, "A trace has the events of its own run only."),
      ...DROPPED,
      ...all(
        [
          "CallRecord.request",
          "CallRecord.requestPart",
          "AgentFrameSnapshot.requestTexts",
          "AgentFrameSnapshot.requestParts",
        ],
        "Replay needs only the hashes of requests, so restoring leaves the requests in the events.",
      ),
    },
    lostAt: {
      "root (": {
        fields: /\.memory(?:Hashes)?$/,
        why: "A trace has the memory of the start and the end, and the root has not ended.",
      },
    },
  },
  {
    name: "a fork",
    pass: () =>
      [sample.whole, sample.early].map((from) => [
        from,
        fieldsOf(forkSnapshot(from, { at: `root/agent:${APART}:0/step:apart:0`, output: "edited" })),
      ]),
    lostAt: { [`:${APART}:`]: { fields: /./, why: "This is what was edited." } },
  },
  {
    name: "a recording",
    pass: () => [sample.whole, sample.early].map((from) => [from, fieldsOf(throughRecording(from))]),
    lostAt: {
      "root (": { fields: /\.inputHash$/, why: "The root of a recording is a test, which has no input." },
    },
    part: { "CallRecord.error": withoutStack, "AgentFrameSnapshot.state": withoutStack },
  },
  {
    name: "inspect --json",
    pass: () => [sample.whole, sample.early].map((from) => [from, throughInspect(from)]),
    lost: {
      ...all(
        ["CallRecord.startOrder", "CallRecord.answerOrder", "CallRecord.endOrder"],
        "The rows are in the order of the starts. Their orders are those of the file.",
      ),
      ...all(["AgentFrameSnapshot.startOrder", "AgentFrameSnapshot.endOrder"], "As for calls."),
      ...all(
        [
          "CallRecord.row",
          "CallRecord.output",
          "CallRecord.types",
          "CallRecord.request",
          "CallRecord.requestPart",
          "CallMeta.stream",
        ],
        "With requests and answers the list would be as large as the snapshot.",
      ),
      ...all(["StreamMeta.startMs", "StreamMeta.chunks", "StreamMeta.attempt", "StreamMeta.headers"], "As `stream`."),
      ...all(
        ["AgentFrameSnapshot.journal", "AgentFrameSnapshot.requestTexts", "AgentFrameSnapshot.requestParts"],
        "As the calls that they belong to.",
      ),
      ...all(
        ["AgentFrameSnapshot.memory", "AgentFrameSnapshot.memoryHashes", "AgentFrameSnapshot.outputTypes"],
        "Memory and outputs can be as large as requests.",
      ),
      ...all(["GenerationStart.memory", "GenerationStart.props", "GenerationStart.propsTypes"], "As the memory."),
      ...all(["CallMeta.usageInFinish", "CallMeta.finishReason"], "These are for the replay of streams."),
      ...all(["CallMeta.echoes"], "This is for the replay of answers."),
      "CallMeta.toolCallId": "The answer of the model has it too.",
      "CallMeta.echoes": "This is for the replay of answers.",
      ...all(["CallMeta.wireHash", "AgentFrameSnapshot.inputHash"], "`contentHash` is the hash that finds the call."),
    },
    part: {
      "CallRecord.error": ({ name, message }: ErrorInfo) => `${name}: ${message}`,
      "CallRecord.meta": ({ durationMs, usage }: CallMeta) => ({ durationMs, usage: usage?.totalTokens }),
      "CallMeta.usage": ({ totalTokens }: TokenUsage) => totalTokens,
      "AgentFrameSnapshot.state": ({ status, error }: FrameState) =>
        error === undefined ? status : `${status}, ${(error as ErrorInfo).name}: ${(error as ErrorInfo).message}`,
      "AgentFrameSnapshot.budgetState": ({ aggregate }: BudgetState) => aggregate.totalTokens,
    },
  },
];

const throughJson = (snapshot: AgentSnapshot): AgentSnapshot => parseSnapshot(stringifySnapshot(snapshot));

function inFolder<T>(fn: (folder: string) => T): T {
  const folder = temporaryFolder();
  try {
    return fn(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function throughRecording(snapshot: AgentSnapshot): AgentSnapshot {
  return inFolder((folder) => {
    const [main, timing, blobs] = [join(folder, "a.jsonl"), join(folder, "a.timing.jsonl"), join(folder, "files")];
    writeRecording({ main, timing, blobs }, recordingText(snapshot, "every field", []));
    return parseSnapshot(JSON.stringify(readRecording({ main, timing, blobs })));
  });
}

/** The durations of calls that are executed again are others. */
function withLongDurations(snapshot: AgentSnapshot): AgentSnapshot {
  return parseSnapshot(stringifySnapshot(snapshot).replaceAll('"durationMs":', '"durationMs":1000000'));
}

/** Stacks name the files of one machine. */
function withoutStack(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, each: unknown) => (key === "stack" ? undefined : each)));
}

function throughInspect(snapshot: AgentSnapshot): Fields {
  const { code, out } = inFolder((folder) => {
    const file = join(folder, "snapshot.json");
    writeFileSync(file, stringifySnapshot(snapshot));
    return cli(["inspect", "--json", file]);
  });
  expect(code).toBe(0);
  return fieldsOfRows((JSON.parse(out) as { rows: Row[] }).rows);
}

it.each(PASSAGES)("every field survives $name", async ({ pass, lost = {}, lostAt = {}, part = {} }) => {
  const survived = new Set<Field>();
  const changed = new Set<string>();
  const missing: [path: string, field: Field, values: object][] = [];
  for (const [from, to] of await pass()) {
    for (const [path, fields] of fieldsOf(from)) {
      const [place, at] = Object.entries(lostAt).find(([name]) => path.includes(name)) ?? [];
      for (const [field, value] of fields) {
        if (isDefault(value)) continue;
        const passed = part[field] === undefined ? value : part[field](value as never);
        const after = to.get(path)?.get(field);
        const survives = isDeepStrictEqual(after, passed);
        if (survives) survived.add(field);
        else if (at?.fields.test(field) === true) changed.add(place as string);
        else if (lost[field] === undefined) missing.push([path, field, { before: passed, after }]);
      }
    }
  }
  expect(missing).toEqual([]);
  // New fields are to be added to the program of the sample, and handled or explained here.
  expect(new Set([...survived, ...(Object.keys(lost) as Field[])])).toEqual(new Set(fieldsOfTypes()));
  expect([...survived].filter((field) => lost[field] !== undefined)).toEqual([]);
  expect([...changed].sort()).toEqual(Object.keys(lostAt).sort());
});
