// docs/format.md lists each field of the formats, and its sample documents are read and replayed.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { journalCall, replay } from "agent-rewind";
import { contentHash, parseSnapshot, restoreSnapshot } from "agent-rewind/debugger";
import canonicalize from "canonicalize";
import { describe, expect, it } from "vitest";

import type { AgentFrameSnapshot, AgentSnapshot, CallRecord, KeptRequest } from "../../ts/types/snapshot.js";
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
const ELSEWHERE = /^(?:TraceEvent.*|.+Event|UsageItem|RestoreOptions|Files|Line|RequestLine)$/;
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
  const NOT_TYPES = ["Values", "Hashes", "Older names"];
});

describe("recorded snapshots", () => {
  const corpus = new URL("../fixtures/recorded/0.1.0/runs/", import.meta.url);
  const files = readdirSync(corpus, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?:dump|restored)\S*\.json$/.test(file),
  );
  const read = (file: string): AgentSnapshot =>
    JSON.parse(readFileSync(new URL(file, corpus), "utf8")) as AgentSnapshot;
  const hash = (value: unknown): string =>
    createHash("sha256")
      .update(canonicalize(value) ?? "")
      .digest("hex");

  type Body = Pick<AgentFrameSnapshot, "calls" | "children" | "journal">;
  const bodiesOf = (frame: AgentFrameSnapshot): Body[] => [frame, ...(frame.generations ?? [])];
  const framesOf = (frame: AgentFrameSnapshot): AgentFrameSnapshot[] => [
    frame,
    ...bodiesOf(frame).flatMap(({ children }) => Object.values(children).flatMap(framesOf)),
  ];

  /** The request document of a call, built as the page says. */
  function documentOf(calls: readonly CallRecord[], request: KeptRequest, texts: readonly unknown[]): object {
    if ("document" in request) return texts[request.document] as object;
    const messagesOf = (kept: KeptRequest): unknown[] => {
      if ("document" in kept) throw new Error("a prompt continues a document");
      const before = kept.base === undefined ? undefined : calls[kept.base]?.request;
      return [...(before === undefined ? [] : messagesOf(before)), ...kept.add.map((at) => texts[at])];
    };
    const { model, options, schema, tools } = request;
    const parts = Object.entries({ model, options, schema, tools }).flatMap(([name, at]) =>
      at === undefined ? [] : [[name, texts[at]] as const],
    );
    return { messages: messagesOf(request), ...Object.fromEntries(parts) };
  }

  it("have the hashes that another program computes by this page", () => {
    let hashed = 0;
    for (const file of files) {
      const { root, normalize } = read(file);
      for (const frame of framesOf(root)) {
        for (const { calls = [] } of bodiesOf(frame)) {
          for (const { request, contentHash: recorded } of normalize === undefined ? calls : []) {
            if (request === undefined) continue;
            expect(hash(documentOf(calls, request, root.requestTexts ?? []))).toBe(recorded);
            hashed += 1;
          }
        }
        for (const [key, recorded] of Object.entries(frame.memoryHashes ?? {})) {
          if (recorded !== "" && !file.includes("edited")) expect(hash(frame.memory[key])).toBe(recorded);
        }
      }
    }
    expect(hashed).toBeGreaterThan(100);
  });

  it("contain no field that the page does not list, and an outcome for each call that ended", () => {
    const listed = (title: string): Set<string> =>
      new Set([...fields(title), ...fields("Older names")].map((field) => field.replace("?", "")));
    const expectListed = (title: string, value: object): void =>
      expect(Object.keys(value).filter((key) => !listed(title).has(key))).toEqual([]);
    for (const file of files) {
      const snapshot = read(file);
      expectListed("AgentSnapshot", snapshot);
      for (const frame of framesOf(snapshot.root)) {
        expectListed("AgentFrameSnapshot", frame);
        for (const { calls = [], journal } of bodiesOf(frame)) {
          expectListed("Journal", journal);
          for (const call of calls) {
            expectListed("CallRecord", call);
            expectListed("CallMeta", call.meta ?? {});
            const recorded: Record<string, unknown> =
              call.kind === "prompt" || call.kind === "tool" ? journal[call.kind] : (journal.other?.[call.kind] ?? {});
            if (call.row === true) expect(recorded).toHaveProperty([call.contentHash]);
            else if (call.endOrder !== undefined) {
              expect("output" in call || call.tombstone !== undefined || call.error !== undefined).toBe(true);
            }
          }
        }
      }
    }
  });
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
