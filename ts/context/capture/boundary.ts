import { inspect } from "node:util";

import { budgetDict, ledgerDict, type BudgetAllocation, type ContextLedger, type Tracked } from "../window/ledger.js";
import { defined } from "../../values/defined.js";
import type { BoundaryFacts, BoundarySource, CaptureDict, CaptureRecord, WireRequest } from "./boundary-types.js";
import type { RequestContent } from "../request/content.js";
import { bytesSha256, canonicalSha256, documentSha256, elementSha256, pythonSha256, SHORT } from "../request/hashes.js";
import type { JsonText } from "../request/json-text.js";
import { measure, type Measured } from "../window/measure.js";
import { utcText } from "./timestamp.js";
import type { CountTokens } from "../window/tokens.js";

/** SHA-256 (64 hex digits) of each part of a request, as written by Python's `json.dumps` with sorted keys. */
export interface SegmentHashes {
  /** The hash of `null` if the system prompt is one of the messages. */
  readonly system: string;
  readonly tools: string;
  readonly messages: string;
  /** All other members of the request: model, temperature, tool choice, … */
  readonly parameters: string;
}

/** @internal */
export interface BoundaryParts {
  /** Since 1970-01-01 UTC. */
  readonly microseconds: number;
  readonly content: RequestContent;
  readonly facts: BoundaryFacts;
  readonly budget: BudgetAllocation;
  readonly tracked: Tracked;
  readonly countTokens: CountTokens | undefined;
}

/**
 * The exact messages and tools of one request to a model. It is immutable and shares nothing with the caller. Hashes and
 * counts are computed on first access.
 */
export class BoundaryCapture {
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
  /** How the request was sent. Absent if it was not captured at the network. */
  readonly wire: WireRequest | undefined;
  /** How the context window of the model is divided. */
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

  /** Time of the capture in UTC, with microseconds. */
  get timestamp(): string {
    return utcText(this.#parts.microseconds);
  }

  /** The messages as they are sent, frozen. */
  get messages(): readonly unknown[] {
    return this.#parts.content.messages.value as readonly unknown[];
  }

  /** The tool schemas as they are sent, frozen. */
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

  /** SHA-256 of the text that Python's `json.dumps(messages, sort_keys=True, default=str)` returns. */
  get messageSha256(): string {
    return this.#measure().messageSha256;
  }

  get toolsSha256(): string {
    return this.#measure().toolsSha256;
  }

  /** The tokens of the model context, by segment. */
  get ledger(): ContextLedger {
    return this.#measure().ledger;
  }

  /** The body of the request, byte for byte. Absent if it was not captured at the network. */
  get body(): string | undefined {
    const { content, facts } = this.#parts;
    return facts.wire === undefined ? undefined : content.document.bytes.toString("utf8");
  }

  /**
   * The key of the journal entry if the request is journaled. Otherwise SHA-256 of the RFC 8785 form of the body, or of
   * `{"messages":…,"tools":…}` if there is no body.
   */
  get contentHash(): string {
    const { content, facts } = this.#parts;
    this.#contentHash ??= facts.journalHash ?? canonicalSha256(content.document);
    return this.#contentHash;
  }

  /** SHA-256 of the bytes that are sent. The order of keys counts. */
  get wireHash(): string {
    const { document } = this.#parts.content;
    this.#wireHash ??= documentSha256(document);
    return this.#wireHash;
  }

  /** SHA-256 of each message, computed like `messageSha256`. */
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

  /** @internal */
  static contentOf(data: BoundaryCapture): RequestContent {
    return data.#parts.content;
  }

  /** Size of the captured text in characters or bytes. @internal */
  static sizeOf(data: BoundaryCapture): number {
    return data.#parts.content.size;
  }

  /** The full capture as JSON, for storage. `verifyCapture`, `detectDrift` and `requestOf` accept this form too. */
  toJSON(): CaptureRecord {
    const { content, facts } = this.#parts;
    const { document, messages, tools } = content;
    const isPlain = messages.isPlain && tools.isPlain;
    const isWhole = facts.source !== "call" || document.source;
    return defined({
      timestamp: this.timestamp,
      source: this.source,
      sessionId: this.sessionId,
      agentName: this.agentName,
      model: this.model,
      callId: this.callId,
      traceId: this.traceId,
      spanId: this.spanId,
      attempt: this.attempt,
      replayed: this.replayed,
      timing: this.timing,
      messageHash: this.messageHash,
      toolsHash: this.toolsHash,
      contentHash: this.contentHash,
      wireHash: this.wireHash,
      ledger: this.ledger,
      budget: this.budget,
      messages: isPlain ? this.messages : (JSON.parse(messages.wire) as readonly unknown[]),
      tools: isPlain ? this.tools : (JSON.parse(tools.wire) as readonly unknown[]),
      request: isWhole ? document.wire : undefined,
      wire: this.wire,
      exact: isPlain || isWhole ? undefined : exactTexts(messages, tools),
    });
  }

  /** The short form, with snake_case names. */
  toDict(): CaptureDict {
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

function exactTexts(messages: JsonText, tools: JsonText): NonNullable<CaptureRecord["exact"]> {
  const text = ({ bytes }: JsonText): string => bytes.toString("utf8");
  return { messages: text(messages), tools: text(tools), source: messages.source };
}
