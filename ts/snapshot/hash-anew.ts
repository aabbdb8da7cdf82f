import { NormalizeError } from "../errors/index.js";
import { calling, native } from "../native.js";
import type { Normalizer } from "../values/normalize.js";
import type { AgentFrameSnapshot, CallRecord, GenerationRecord, JournalEntry, KeptRequest } from "../types/snapshot.js";

/**
 * The same frames with all hashes made under other rules, from the requests that were kept. Changes `root`.
 * @throws NormalizeError where a request was not kept.
 */
export function hashedAnew(root: AgentFrameSnapshot, normalizer: Normalizer | undefined): AgentFrameSnapshot {
  const texts = (root.requestTexts ?? []).map((value) => JSON.stringify(value));
  const hasher = new Hasher(texts, normalizer);
  const open: AgentFrameSnapshot[] = [root];
  for (let frame = open.pop(); frame !== undefined; frame = open.pop()) {
    hasher.rekey(frame, frame.calls ?? [], frame.callId);
    hasher.rehashInput(frame);
    open.push(...Object.values(frame.children));
    for (const generation of frame.generations ?? []) {
      hasher.rekey(generation, generation.calls, frame.callId);
      open.push(...Object.values(generation.children));
    }
  }
  return root;
}

class Hasher {
  readonly #texts: readonly string[];
  readonly #normalizer: Normalizer | undefined;

  constructor(texts: readonly string[], normalizer: Normalizer | undefined) {
    this.#texts = texts;
    this.#normalizer = normalizer;
  }

  /** Gives the calls of a list their new hashes, and takes their outputs out of the rows into the calls. */
  rekey(body: Pick<AgentFrameSnapshot | GenerationRecord, "journal">, calls: CallRecord[], frame: string): void {
    const messages: string[][] = [];
    const left = new Map(rowsOf(body.journal).map((row) => [rowKey(row.kind, row.entry.contentHash), row]));
    for (const call of calls) {
      const row = left.get(rowKey(call.kind, call.contentHash));
      if (call.row === true && row !== undefined) takeFromRow(call, row.entry);
    }
    for (const call of calls) left.delete(rowKey(call.kind, call.contentHash));
    if (left.size > 0) throw notKept(frame, "a journal row that no call tells of");
    for (const [index, call] of calls.entries()) {
      if (call.request === undefined) throw notKept(frame, `the request of ${call.callId}`);
      call.contentHash = this.#hash(this.#document(call.request, messages, index), call.kind);
    }
    body.journal = { prompt: {}, tool: {} };
  }

  rehashInput(frame: AgentFrameSnapshot): void {
    if (frame.inputHash === undefined) return;
    const start = frame.generations?.[0] ?? frame.generation;
    // Without the props of its start, a frame is found by its callId.
    if (start?.id !== 0 || start.props === undefined) {
      delete frame.inputHash;
      return;
    }
    const types = start.propsTypes === undefined ? "" : `,"types":${JSON.stringify(start.propsTypes)}`;
    frame.inputHash = this.#hash(`{"input":${JSON.stringify(start.props)}${types}}`, "agent");
  }

  #hash(document: string, kind: string): string {
    return calling(() => native.contentHash(this.#normalizer?.document(document, kind) ?? document));
  }

  #document(request: KeptRequest, messages: string[][], index: number): string {
    if ("document" in request) return this.#texts[request.document] ?? "null";
    const all = [
      ...(request.base === undefined ? [] : (messages[request.base] ?? [])),
      ...request.add.map((at) => this.#texts[at] ?? "null"),
    ];
    messages[index] = all;
    const members = (["model", "options", "schema", "tools"] as const).flatMap((name) => {
      const at = request[name];
      return at === undefined ? [] : [`,"${name}":${this.#texts[at] ?? "null"}`];
    });
    return `{"messages":[${all.join(",")}]${members.join("")}}`;
  }
}

interface Row {
  kind: string;
  entry: JournalEntry;
}

function rowsOf({ prompt, tool, other = {} }: AgentFrameSnapshot["journal"]): Row[] {
  const kinds = [["prompt", prompt] as const, ["tool", tool] as const, ...Object.entries(other)];
  return kinds.flatMap(([kind, rows]) => Object.values(rows).map((entry) => ({ kind, entry })));
}

function rowKey(kind: string, contentHash: string): string {
  return `${kind} ${contentHash}`;
}

function takeFromRow(call: CallRecord, entry: JournalEntry): void {
  delete call.row;
  if (entry.error === undefined) call.output = entry.output;
  else call.tombstone = entry.error;
}

function notKept(frame: string, what: string): NormalizeError {
  return new NormalizeError(
    `the snapshot was recorded under other rules of options.normalize, and cannot be hashed anew: ${what} was not kept ` +
      `in ${frame}. Give the rules that it was recorded under, or record it anew.`,
  );
}
