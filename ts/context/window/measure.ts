// Hashes and counts the messages and tools of a request.

import { calling, native } from "../../native.js";
import { ledgerOf, type ContextLedger, type Tracked } from "./ledger.js";
import type { RequestContent } from "../request/content.js";
import { isInvalidJson, lastKeysOnly } from "../request/hashes.js";
import type { JsonText } from "../request/json-text.js";
import {
  estimateTokens,
  messageTokens as tokensOfEach,
  PER_LIST,
  tokensOfContent,
  type CountTokens,
} from "./tokens.js";

export interface Measured {
  readonly messageSha256: string;
  readonly toolsSha256: string;
  readonly ledger: ContextLedger;
}

interface Measurable {
  readonly content: RequestContent;
  readonly tracked: Tracked;
  readonly countTokens: CountTokens | undefined;
}

export function measure({ content, tracked, countTokens }: Measurable): Measured {
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
  // A missing list is an empty one without number tokens, so it fits either form.
  const source = messages.source || tools.source;
  try {
    return calling(() => native.measureBoundary(messages.bytes, tools.bytes, source));
  } catch (error) {
    if (!isInvalidJson(error)) throw error;
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
