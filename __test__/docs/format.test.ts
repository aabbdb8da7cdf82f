// docs/format.md lists each field of the formats, and its sample documents are read and replayed.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { journalCall, replay, type AgentSnapshot } from "agent-rewind";
import { contentHash, parseSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import { describe, expect, it } from "vitest";

import { readRecording } from "../../ts/recording/files.js";
import { temporaryFolder } from "../support/process.js";
import { typeFields } from "../support/type-fields.js";

const page = readFileSync(new URL("../../docs/format.md", import.meta.url), "utf8");
const sections = new Map(
  page.split(/^### /m).map((text): [string, string] => [text.slice(0, text.indexOf("\n")), text]),
);

/** First columns of the table of a section, without backticks. */
function rows(title: string): string[][] {
  const lines = (sections.get(title) ?? "").split(/^## /m)[0]?.split("\n") ?? [];
  const cells = lines.filter((line) => line.startsWith("| `")).map((line) => line.slice(2).split(" | "));
  return cells.map(([name = "", more = ""]) => [name.replaceAll("`", ""), more]);
}

const fields = (title: string): string[] =>
  rows(title)
    .map(([name = ""]) => name)
    .toSorted();

const types = typeFields("ts/types/snapshot.ts", "ts/types/events.ts", "ts/recording/lines.ts");
/** Described as tables of their own kind, or not part of the formats. */
const ELSEWHERE = /^(?:TraceEvent.*|.+Event|UsageItem|RestoreOptions|Files|Line)$/;
const documented = types.names.filter((name) => !ELSEWHERE.test(name));

describe("the fields", () => {
  it.each(documented)("of %s are those of the type", (name) => {
    expect(fields(name)).toEqual(types.of(name));
  });

  it("of each event are those of its type, and each is described", () => {
    const common = ["_seq?", "agentId?", "schemaVersion", "timestamp", "trace", "type"];
    const listed = rows("Events").map(([name, cell = ""]): [string, string[]] => [
      name ?? "",
      [...common, ...Array.from(cell.matchAll(/`([^`]+)`/g), ([, field = ""]) => field)].toSorted(),
    ]);
    const events = types.byEvent("TraceEvent");
    expect(Object.fromEntries(listed)).toEqual(events);
    const used = new Set(Object.values(events).flatMap((list) => list.map((field) => field.replace("?", ""))));
    expect(fields("Event fields")).toEqual([...used].toSorted());
  });

  it("have no table without a type", () => {
    const tables = [...sections.keys()].filter((title) => fields(title).length > 0);
    expect(tables.toSorted()).toEqual([...documented, "Events", "Event fields", ...NOT_TYPES].toSorted());
  });
  const NOT_TYPES = ["Values", "Hashes"];
});

describe("the samples", () => {
  const sample = (info: string): string => new RegExp(`^\`\`\`${info}\n(.*?)^\`\`\``, "ms").exec(page)?.[1] ?? "";
  const program = (): Promise<unknown> =>
    journalCall({ kind: "step", name: "work", request: { n: 1 } }, () => expect.unreachable("a live call"));
  const expectReplayed = async (snapshot: AgentSnapshot): Promise<void> =>
    expect(await replay(program, { snapshot })).toEqual(new Date(0));

  it("a snapshot is read and replayed", async () => {
    await expectReplayed(parseSnapshot(sample("json snapshot")));
  });

  it("a trace is restored without a warning and replayed", async () => {
    const snapshot = restoreSnapshot(sample("jsonl trace"));
    expect(snapshot.warnings ?? []).toEqual([]);
    await expectReplayed(snapshot);
  });

  it.each([true, false])("a recording is read and replayed, with its timing: %s", async (timed) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "files"));
    const paths = {
      main: join(folder, "a.jsonl"),
      timing: join(folder, "a.timing.jsonl"),
      blobs: join(folder, "files"),
    };
    writeFileSync(paths.main, sample("jsonl recording"));
    if (timed) writeFileSync(paths.timing, sample("jsonl timing"));
    await expectReplayed(readRecording(paths) as AgentSnapshot);
  });

  it("a document has the hash that the page says, also without this package", () => {
    const [, document = "", hash] = /The document `(.+?)` has the hash\s+`([\da-f]{64})`/.exec(page) ?? [];
    expect(createHash("sha256").update(document).digest("hex")).toBe(hash);
    expect(contentHash(document)).toBe(hash);
  });
});
