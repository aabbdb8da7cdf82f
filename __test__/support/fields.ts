// The fields of a snapshot's calls and frames: those that the types name, and those that a snapshot has.

import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";

import type { AgentFrameSnapshot, AgentSnapshot, CallRecord, GenerationRecord, Journal } from "agent-rewind";
import ts from "typescript";

import type { Row } from "../../ts/view/run-view.js";
import type { RequestPart } from "../../ts/types/snapshot.js";
import { pointerTokens } from "../../ts/values/pointer.js";

const TYPES = ["CallRecord", "CallMeta", "StreamMeta", "AgentFrameSnapshot", "GenerationStart"] as const;

export type TypeName = (typeof TYPES)[number];
/** Such as "CallRecord.kind". */
export type Field = `${TypeName}.${string}`;

/** Every field of the types, read from the published declarations: a new one is in the list at once. */
export function fieldsOfTypes(): Field[] {
  const path = fileURLToPath(new URL("../../index.d.ts", import.meta.url));
  const program = ts.createProgram([path], { noLib: true, noResolve: true, types: [] });
  const checker = program.getTypeChecker();
  const declared = new Map<string, ts.InterfaceDeclaration>();
  program.getSourceFile(path)?.forEachChild((node) => {
    if (ts.isInterfaceDeclaration(node)) declared.set(node.name.text, node);
  });
  return TYPES.flatMap((type) => {
    const declaration = declared.get(type);
    if (declaration === undefined) throw new Error(`index.d.ts has no interface ${type}`);
    return checker
      .getTypeAtLocation(declaration)
      .getProperties()
      .map(({ name }): Field => `${type}.${name}`);
  });
}

/** Values by where they are, such as `root/step:a:0`, and field. */
export type Fields = Map<string, Map<Field, unknown>>;

function collected(): { found: Fields; add: (type: TypeName, path: string, value: object) => void } {
  const found: Fields = new Map();
  const add = (type: TypeName, path: string, value: object): void => {
    const fields = Object.entries(value).map(([name, each]): [Field, unknown] => [`${type}.${name}`, each]);
    found.set(`${path} (${type})`, new Map(fields));
  };
  return { found, add };
}

/** All calls, frames and generations of a snapshot, in a form in which equal content is equal. */
export function fieldsOf({ root }: AgentSnapshot): Fields {
  const { found, add } = collected();
  const visit = (frame: AgentFrameSnapshot, ranks: Ranks): void => {
    const { callId, generation, generations = [], journal, calls = [], children, requestTexts, requestParts } = frame;
    add("AgentFrameSnapshot", callId, {
      ...ranked(frame, ranks),
      children: Object.keys(children),
      calls: calls.map((call) => call.callId),
      ...(generation === undefined ? {} : { generation: generation.id }),
      ...(generations.length === 0 ? {} : { generations: generations.map(({ id }) => id) }),
      // Requests name texts by place, and are compared by what they name.
      ...(requestTexts === undefined ? {} : { requestTexts: requestTexts.map((text) => JSON.stringify(text)).sort() }),
      // Their number depends on who wrote them. What they contain is compared for each call.
      ...(requestParts === undefined ? {} : { requestParts: true }),
    });
    for (const body of [...generations, { ...(generation ?? { id: 0 }), journal, calls, children }]) {
      const { journal: _journal, calls: own, children: under, ...start } = body;
      add("GenerationStart", `${callId}#${body.id}`, start);
      const at = generations.includes(body as GenerationRecord) ? ranksOf(body) : ranks;
      for (const call of own) {
        const path = `${call.callId}#${body.id}`;
        add("CallRecord", path, { ...ranked(call, at), ...requestOf(call, root) });
        if (call.meta !== undefined) add("CallMeta", path, call.meta);
        if (call.meta?.stream !== undefined) add("StreamMeta", path, call.meta.stream);
      }
      for (const child of Object.values(under)) visit(child, at);
    }
  };
  visit(root, ranksOf(root));
  return found;
}

interface Open {
  readonly callId: string;
  /** Id of the last generation, and of the one whose rows are read. */
  readonly last: number;
  at: number;
  readonly generations: number[];
  readonly calls: string[];
  readonly children: string[];
}

/** The fields that rows of `inspect --json` have, under their names in a snapshot. */
export function fieldsOfRows(rows: readonly Row[]): Fields {
  const { found, add } = collected();
  /** The frame at each depth, and the lists of its last generation. */
  const frames: Open[] = [];
  for (const row of rows) {
    const parent = frames[row.depth - 1];
    if (row.row === "frame") {
      const { callId, agentId, status, reason, generation, tokens, startOrder: _start, endOrder: _end, ...marks } = row;
      const lists = { generations: [], calls: [], children: [] };
      frames[row.depth] = { callId, last: generation, at: generation, ...lists };
      parent?.children.push(callId);
      const state = reason === undefined ? status : `${status}, ${reason}`;
      const fields = { callId, agentId, state, generation, budgetState: tokens };
      add("AgentFrameSnapshot", callId, { ...marks, ...fields, ...lists });
      add("GenerationStart", `${callId}#${generation}`, { id: generation });
    } else if (parent === undefined) {
      throw new Error("a row that is in no frame");
    } else if (row.row === "generation") {
      add("GenerationStart", `${parent.callId}#${row.id}`, { id: row.id });
      parent.at = row.id;
      if (row.id !== parent.last) parent.generations.push(row.id);
      parent.calls.length = 0;
      parent.children.length = 0;
    } else {
      const {
        callId = "",
        status,
        reason,
        durationMs,
        tokens: usage,
        startOrder: _start,
        endOrder: _end,
        ...fields
      } = row;
      parent.calls.push(callId);
      const path = `${callId}#${parent.at}`;
      const outcome = status === "failed" ? { error: reason } : status === "not kept" ? { tombstone: reason } : {};
      add("CallRecord", path, { ...fields, callId, ...outcome, meta: { durationMs, usage } });
      add("CallMeta", path, { durationMs, usage });
    }
  }
  return found;
}

type Ranks = ReadonlyMap<number, number>;

/**
 * Orders may start elsewhere and have gaps: only which of two is first counts. A resumed run does not run earlier
 * generations again, so each of them has an order of its own.
 */
function ranksOf(body: object): Ranks {
  const orders = new Set<number>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, each] of Object.entries(value)) {
      if (isOrder(name)) orders.add(each as number);
      else if (name !== "generations") visit(each);
    }
  };
  visit(body);
  return new Map([...orders].toSorted((left, right) => left - right).map((order, rank) => [order, rank]));
}

function ranked(value: CallRecord | AgentFrameSnapshot, ranks: Ranks): object {
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([name, each]) => [name, isOrder(name) ? ranks.get(each as number) : each]));
}

const isOrder = (name: string): boolean => /^(?:start|answer|end)Order$/.test(name);

function requestOf({ request, requestPart }: CallRecord, root: AgentFrameSnapshot): object {
  if (requestPart !== undefined) return { requestPart: partOf(requestPart, root) };
  if (request === undefined) return {};
  if (!("document" in request)) throw new Error("only version 0.1.0 wrote prompts by their members");
  return { request: root.requestTexts?.[request.document] };
}

/** A part with all that it refers to. */
function partOf(index: number, root: AgentFrameSnapshot): unknown {
  const part = root.requestParts?.[index] as RequestPart;
  if ("output" in part) return JSON.parse(outputOf(part.output, root));
  if ("outputText" in part) return outputOf(part.outputText, root);
  if ("value" in part) {
    const copy = { whole: structuredClone(part.value) };
    for (const [pointer, inner] of Object.entries(part.parts ?? {})) {
      const tokens = ["whole", ...(pointerTokens(pointer) ?? [])];
      const last = tokens.pop() as string;
      const parent = tokens.reduce<Record<string, unknown>>(
        (value, token) => value[token] as Record<string, unknown>,
        copy as Record<string, unknown>,
      );
      parent[last] = partOf(inner, root);
    }
    return copy.whole;
  }
  const items = "list" in part ? part.list : part.text;
  const before = part.after === undefined ? [] : (partOf(part.after, root) as unknown[]).slice(0, part.keep);
  const all = [...before, ...items.map((item) => partOf(item, root))];
  return "list" in part ? all : all.join("");
}

/** The JSON text with this hash among the outputs of all frames. */
function outputOf(hash: string, frame: AgentFrameSnapshot): string {
  const bodies = [frame, ...(frame.generations ?? [])];
  const rows = bodies.flatMap(({ journal: { prompt, tool, other = {} } }) =>
    [prompt, tool, ...Object.values(other)].flatMap((kind) => Object.values(kind)),
  );
  const calls = bodies.flatMap((body) => body.calls ?? []);
  const texts = [...rows, ...calls].map(({ output }) => JSON.stringify(output ?? null));
  const found = texts.find((text) => createHash("sha256").update(text).digest("hex") === hash);
  if (found !== undefined) return found;
  const children = bodies.flatMap((body) => Object.values(body.children));
  for (const child of children) {
    const inner = outputOf(hash, child);
    if (inner !== "") return inner;
  }
  return "";
}

/** True for a value that a reader could have made up. */
export function isDefault(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === 0 || value === "") return true;
  if (typeof value !== "object") return false;
  const journal = value as Partial<Journal>;
  if (journal.prompt !== undefined && journal.tool !== undefined) return Object.values(journal).every(isDefault);
  return Object.keys(value).length === 0;
}
