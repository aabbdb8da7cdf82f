// What was sent to a model, at one moment.

import { inspect } from "node:util";

import { calling, native } from "../native.js";
import { budgetDict, ledgerDict, ledgerOf, type BudgetAllocation, type ContextLedger, type Tracked } from "./budget.js";
import type { RequestContent } from "./content.js";
import {
  bytesSha256,
  canonicalSha256,
  documentSha256,
  elementSha256,
  isDoubledKey,
  lastKeysOnly,
  pythonSha256,
  SHORT,
} from "./hashes.js";
import type { JsonText } from "./json-text.js";
import { utcText } from "./timestamp.js";
import {
  estimateTokens,
  messageTokens as tokensOfEach,
  PER_LIST,
  tokensOfContent,
  type CountTokens,
} from "./tokens.js";

/** Where a boundary was captured: by a call of the user's, at the model call of a run, or at the network. */
export type BoundarySource = "call" | "model" | "wire";

/** The request that was sent over the network. Values of headers and of the URL that are secret are left out. */
export interface WireRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is known of a boundary beside its content. */
export interface BoundaryFacts {
  readonly source: BoundarySource;
  readonly sessionId: string;
  /** Name of the agent that sends. */
  readonly agentName: string;
  readonly model: string;
  /** Path of the journaled call, such as `root/agent:writer:0/prompt:gpt:0`; absent outside of runs. */
  readonly callId?: string | undefined;
  readonly traceId?: string | undefined;
  /** Span of the call: that of the trace events `turn:start` and `turn:end`, or `call:start` and `call:end`. */
  readonly spanId?: string | undefined;
  /** Key of the journal entry, where there is one. */
  readonly journalHash?: string | undefined;
  /** From 1; each retry of a request is one more. */
  readonly attempt: number;
  /** Whether the answer comes from a recording: nothing leaves. */
  readonly replayed: boolean;
  /** Of a snapshot that `process` keeps. */
  readonly timing?: "pre_optimization" | "post_optimization" | undefined;
  readonly wire?: WireRequest | undefined;
}

/** SHA-256, 64 hex digits each, of the parts of a request, as Python's `json.dumps` writes them with sorted keys. */
export interface SegmentHashes {
  /** Of `null` where the system prompt is among the messages. */
  readonly system: string;
  readonly tools: string;
  readonly messages: string;
  /** All other members of the request: model, temperature, tool choice, … */
  readonly parameters: string;
}

/** What a snapshot is made of. @internal */
export interface BoundaryParts {
  /** Since 1970. */
  readonly microseconds: number;
  readonly content: RequestContent;
  readonly facts: BoundaryFacts;
  readonly budget: BudgetAllocation;
  readonly tracked: Tracked;
  readonly countTokens: CountTokens | undefined;
}

interface Measured {
  readonly messageSha256: string;
  readonly toolsSha256: string;
  readonly ledger: ContextLedger;
}

/**
 * The exact messages and tools of one request to a model. It never changes and shares nothing with the caller. Hashes
 * and counts are made at the first access.
 */
export class SnapshotHookData {
  readonly source: BoundarySource;
  readonly sessionId: string;
  readonly agentName: string;
  readonly model: string;
  readonly callId: string | undefined;
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  readonly attempt: number;
  readonly replayed: boolean;
  readonly timing: "pre_optimization" | "post_optimization" | undefined;
  /** How it was sent; absent where it was not captured at the network. */
  readonly wire: WireRequest | undefined;
  /** How the model's context window is allotted. */
  readonly budget: BudgetAllocation;
  readonly #parts: BoundaryParts;
  #measured: Measured | undefined;
  #contentHash: string | undefined;
  #wireHash: string | undefined;
  #messageHashes: readonly string[] | undefined;
  #segmentHashes: SegmentHashes | undefined;

  /** @internal */
  constructor(parts: BoundaryParts) {
    const { facts } = parts;
    this.source = facts.source;
    this.sessionId = facts.sessionId;
    this.agentName = facts.agentName;
    this.model = facts.model;
    this.callId = facts.callId;
    this.traceId = facts.traceId;
    this.spanId = facts.spanId;
    this.attempt = facts.attempt;
    this.replayed = facts.replayed;
    this.timing = facts.timing;
    this.wire = facts.wire;
    this.budget = parts.budget;
    this.#parts = parts;
    Object.freeze(this);
  }

  /** When it was captured: UTC, in microseconds. */
  get timestamp(): string {
    return utcText(this.#parts.microseconds);
  }

  /** The messages as they are sent; frozen. */
  get messages(): readonly unknown[] {
    return this.#parts.content.messages.value as readonly unknown[];
  }

  /** The tool schemas as they are sent; frozen. */
  get tools(): readonly unknown[] {
    return this.#parts.content.tools.value as readonly unknown[];
  }

  /** The first 16 hex digits of `messageSha256`. */
  get messageHash(): string {
    return this.messageSha256.slice(0, SHORT);
  }

  /** The first 16 hex digits of `toolsSha256`. */
  get toolsHash(): string {
    return this.toolsSha256.slice(0, SHORT);
  }

  /** SHA-256 of what Python's `json.dumps(messages, sort_keys=True, default=str)` gives. */
  get messageSha256(): string {
    return this.#measure().messageSha256;
  }

  get toolsSha256(): string {
    return this.#measure().toolsSha256;
  }

  /** What the context holds, in tokens. */
  get ledger(): ContextLedger {
    return this.#measure().ledger;
  }

  /** Text of the request's body, byte for byte; absent where it was not captured at the network. */
  get body(): string | undefined {
    const { content, facts } = this.#parts;
    return facts.wire === undefined ? undefined : content.document.bytes.toString("utf8");
  }

  /**
   * The key of the journal entry, where the request is journaled; else SHA-256 of the RFC 8785 form of the request:
   * of the body, or of `{"messages":…,"tools":…}`.
   */
  get contentHash(): string {
    const { content, facts } = this.#parts;
    this.#contentHash ??= facts.journalHash ?? canonicalSha256(content.document);
    return this.#contentHash;
  }

  /** SHA-256 of the bytes that are sent, the order of the keys kept. */
  get wireHash(): string {
    const { document } = this.#parts.content;
    this.#wireHash ??= documentSha256(document);
    return this.#wireHash;
  }

  /** SHA-256 of each message, as `messageSha256`. */
  get messageHashes(): readonly string[] {
    this.#messageHashes ??= Object.freeze(elementSha256(this.#parts.content.messages));
    return this.#messageHashes;
  }

  get segmentHashes(): SegmentHashes {
    const { system, parameters } = this.#parts.content;
    this.#segmentHashes ??= Object.freeze({
      system: system === undefined ? bytesSha256(Buffer.from("null")) : pythonSha256(system),
      tools: this.toolsSha256,
      messages: this.messageSha256,
      parameters: pythonSha256(parameters),
    });
    return this.#segmentHashes;
  }

  /** The request as text and parts. @internal */
  static contentOf(data: SnapshotHookData): RequestContent {
    return data.#parts.content;
  }

  /** Characters or bytes of text that it holds. @internal */
  static sizeOf(data: SnapshotHookData): number {
    return data.#parts.content.size;
  }

  /** All of it, to be kept as JSON: `verifySnapshot`, `detectDrift` and `requestOf` take it too. */
  toJSON(): SnapshotRecord {
    const { content, facts } = this.#parts;
    const { document, messages, tools } = content;
    const isPlain = messages.isPlain && tools.isPlain;
    const isWhole = facts.source !== "call" || document.source;
    return {
      timestamp: this.timestamp,
      source: this.source,
      sessionId: this.sessionId,
      agentName: this.agentName,
      model: this.model,
      ...(this.callId === undefined ? {} : { callId: this.callId }),
      ...(this.traceId === undefined ? {} : { traceId: this.traceId }),
      ...(this.spanId === undefined ? {} : { spanId: this.spanId }),
      attempt: this.attempt,
      replayed: this.replayed,
      ...(this.timing === undefined ? {} : { timing: this.timing }),
      messageHash: this.messageHash,
      toolsHash: this.toolsHash,
      contentHash: this.contentHash,
      wireHash: this.wireHash,
      ledger: this.ledger,
      budget: this.budget,
      messages: isPlain ? this.messages : (JSON.parse(messages.wire) as readonly unknown[]),
      tools: isPlain ? this.tools : (JSON.parse(tools.wire) as readonly unknown[]),
      ...(isWhole ? { request: document.wire } : {}),
      ...(facts.wire === undefined ? {} : { wire: facts.wire }),
      ...(isPlain || isWhole ? {} : { exact: exactTexts(messages, tools) }),
    };
  }

  /** The short form, in the names of the source. */
  toDict(): SnapshotDict {
    return {
      timestamp: this.timestamp,
      message_count: this.ledger.messageCount,
      tools_count: Array.isArray(this.tools) ? this.tools.length : 0,
      message_hash: this.messageHash,
      tools_hash: this.toolsHash,
      ledger: ledgerDict(this.ledger),
      budget: budgetDict(this.budget),
    };
  }

  /** @internal */
  [inspect.custom](): object {
    const { source, model, callId, attempt, replayed } = this;
    return { source, model, callId, attempt, replayed, ...this.toDict() };
  }

  #measure(): Measured {
    this.#measured ??= measure(this.#parts);
    return this.#measured;
  }
}

/** A snapshot as JSON. */
export interface SnapshotRecord {
  readonly timestamp: string;
  readonly source: BoundarySource;
  readonly sessionId: string;
  readonly agentName: string;
  readonly model: string;
  readonly callId?: string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly attempt: number;
  readonly replayed: boolean;
  readonly timing?: "pre_optimization" | "post_optimization";
  readonly messageHash: string;
  readonly toolsHash: string;
  readonly contentHash: string;
  readonly wireHash: string;
  readonly ledger: ContextLedger;
  readonly budget: BudgetAllocation;
  readonly messages: readonly unknown[];
  readonly tools: readonly unknown[];
  /** The whole request as it was sent or hashed, where more than messages and tools is known. */
  readonly request?: string;
  readonly wire?: WireRequest;
  /** Where JSON values alone do not give the hashes again: the texts, and whether their number tokens count. */
  readonly exact?: { readonly messages: string; readonly tools: string; readonly source: boolean };
}

/** A snapshot in the names of the source. */
export interface SnapshotDict {
  readonly timestamp: string;
  readonly message_count: number;
  readonly tools_count: number;
  readonly message_hash: string;
  readonly tools_hash: string;
  readonly ledger: Readonly<Record<string, number>>;
  readonly budget: Readonly<Record<string, number>>;
}

function exactTexts(messages: JsonText, tools: JsonText): NonNullable<SnapshotRecord["exact"]> {
  const text = ({ bytes }: JsonText): string => bytes.toString("utf8");
  return { messages: text(messages), tools: text(tools), source: messages.source };
}

function measure({ content, tracked, countTokens }: BoundaryParts): Measured {
  const { messages, tools } = content;
  const [messageSha256, toolsSha256, counts] = count(messages, tools);
  const [messageCount, messageTokens, toolsTokens, turnCount, toolCallCount] = counts;
  const history = countTokens === undefined ? messageTokens : sum(tokensOfEach(messages, countTokens));
  const ledger = ledgerOf(
    { ...tracked, systemPrompt: tracked.systemPrompt + systemTokens(content.system, countTokens) },
    {
      toolsSchema: countTokens === undefined ? toolsTokens : toolTokens(tools, countTokens),
      history: history === 0 ? 0 : history + PER_LIST,
      turnCount,
      messageCount,
      toolCallCount,
    },
  );
  return { messageSha256, toolsSha256, ledger };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, each) => total + each, 0);
}

type Counts = [messages: number, messageTokens: number, toolTokens: number, turns: number, toolCalls: number];

function count(messages: JsonText, tools: JsonText): [messageSha256: string, toolsSha256: string, Counts] {
  const [messageSha256 = "", toolsSha256 = "", ...counts] = measured(messages, tools).split(" ");
  return [messageSha256, toolsSha256, counts.map(Number) as Counts];
}

function measured(messages: JsonText, tools: JsonText): string {
  // A list that is empty because there is none has no number tokens: it is of either form.
  const source = messages.source || tools.source;
  try {
    return calling(() => native.measureBoundary(messages.bytes, tools.bytes, source));
  } catch (error) {
    if (!isDoubledKey(error)) throw error;
    const [{ bytes }, toolsText] = [lastKeysOnly(messages), lastKeysOnly(tools)];
    return calling(() => native.measureBoundary(bytes, toolsText.bytes, false));
  }
}

function systemTokens(system: JsonText | undefined, countTokens: CountTokens | undefined): number {
  return system === undefined ? 0 : tokensOfContent(system.value, countTokens ?? estimateTokens);
}

function toolTokens(tools: JsonText, countTokens: CountTokens): number {
  const { value } = tools;
  return Array.isArray(value) && value.length === 0 ? 0 : countTokens(tools.wire);
}
