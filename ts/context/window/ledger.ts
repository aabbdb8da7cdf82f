import { checkObject } from "../../errors/received.js";

// The token budget of a model context, and the tokens that it uses.

/** The segments whose tokens `track` can set. */
export type Segment = "systemPrompt" | "rules" | "skills" | "memory" | "buffer";

/** Tokens of each segment of a model context. */
export type SegmentTokens = Readonly<Record<Segment | "toolsSchema" | "history" | "toolOutputs", number>>;

/** How the tokens of a context window are divided. */
export interface BudgetAllocation extends SegmentTokens {
  readonly modelLimit: number;
  /** Reserved for the answer. */
  readonly outputReserve: number;
  /** Always -1: the history may use the rest, `historyBudget`. */
  readonly history: number;
  /** `modelLimit` minus `outputReserve`. */
  readonly usable: number;
  readonly historyBudget: number;
}

/** The tokens of a model context. */
export interface ContextLedger extends SegmentTokens {
  /** All messages. */
  readonly history: number;
  /** Outputs that were added by `trackToolOutput`. */
  readonly toolOutputs: number;
  /** Number of messages with the role "user". */
  readonly turnCount: number;
  readonly messageCount: number;
  readonly toolCallCount: number;
  /** The sum of the eight segments. */
  readonly total: number;
}

/** Counts that were set by `track` and `trackToolOutput`. */
export type Tracked = Pick<ContextLedger, Segment | "toolOutputs" | "toolCallCount">;

export const NOTHING_TRACKED: Tracked = Object.freeze({
  systemPrompt: 0,
  rules: 0,
  skills: 0,
  memory: 0,
  toolOutputs: 0,
  buffer: 0,
  toolCallCount: 0,
});

/** In the order in which the monitor writes them. */
const SEGMENTS: SegmentTokens = {
  systemPrompt: 2000,
  rules: 500,
  skills: 500,
  memory: 1000,
  toolsSchema: 2000,
  history: -1,
  toolOutputs: 20_000,
  buffer: 1000,
};

const WITHOUT_HISTORY = Object.values(SEGMENTS).reduce((sum, tokens) => sum + Math.max(0, tokens), 0);

export function allocate(modelLimit: number, outputReserve: number): BudgetAllocation {
  const usable = modelLimit - outputReserve;
  const historyBudget = Math.max(0, usable - WITHOUT_HISTORY);
  return Object.freeze({ modelLimit, outputReserve, ...SEGMENTS, usable, historyBudget });
}

export function ledgerOf(
  tracked: Tracked,
  counted: { toolsSchema: number; history: number; turnCount: number; messageCount: number; toolCallCount: number },
): ContextLedger {
  const ledger = { ...SEGMENTS, ...counted, ...tracked };
  return Object.freeze({
    ...ledger,
    toolCallCount: tracked.toolCallCount + counted.toolCallCount,
    total: Object.keys(SEGMENTS).reduce((total, segment) => total + ledger[segment as keyof SegmentTokens], 0),
  });
}

/** Share of the usable budget that is used; 0 if there is no usable budget. */
export function utilizationOf(ledger: ContextLedger, budget: BudgetAllocation): number {
  return budget.usable > 0 ? ledger.total / budget.usable : 0;
}

/** Returns warnings about a context that is nearly full or overflows, and about tool outputs near their budget. */
export function warningsOf(ledger: ContextLedger, budget: BudgetAllocation): string[] {
  checkObject("warningsOf: ledger", ledger);
  checkObject("warningsOf: budget", budget);
  const warnings: string[] = [];
  const used = utilizationOf(ledger, budget);
  const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;
  if (used >= 1) warnings.push(`CRITICAL: Context overflow! ${percent(used)} of usable budget`);
  else if (used >= 0.9) warnings.push(`WARNING: Context at ${percent(used)} of usable budget`);
  else if (used >= 0.8) warnings.push(`NOTICE: Context at ${percent(used)} of usable budget`);
  const outputs = ledger.toolOutputs / budget.toolOutputs;
  if (outputs >= 0.9) warnings.push(`Tool outputs at ${percent(outputs)} of budget`);
  return warnings;
}

/** The ledger without the total, with snake_case names. */
export function ledgerDict({ total: _total, ...ledger }: ContextLedger): Record<string, number> {
  return snakeCase(ledger);
}

export function budgetDict(budget: BudgetAllocation): Record<string, number> {
  return snakeCase({ ...budget });
}

function snakeCase(counts: Readonly<Record<string, number>>): Record<string, number> {
  const name = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(counts).map(([key, count]) => [name(key), count]));
}
