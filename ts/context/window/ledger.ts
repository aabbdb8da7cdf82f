// The token budget of a model context, and the tokens that it uses.

/** How the tokens of a context window are divided. */
export interface BudgetAllocation {
  readonly modelLimit: number;
  /** Reserved for the answer. */
  readonly outputReserve: number;
  readonly systemPrompt: number;
  readonly rules: number;
  readonly skills: number;
  readonly memory: number;
  readonly toolsSchema: number;
  /** Always -1: the history may use the rest, `historyBudget`. */
  readonly history: number;
  readonly toolOutputs: number;
  readonly buffer: number;
  /** `modelLimit` minus `outputReserve`. */
  readonly usable: number;
  readonly historyBudget: number;
}

/** The tokens of a model context, by segment. */
export interface ContextLedger {
  readonly systemPrompt: number;
  readonly rules: number;
  readonly skills: number;
  readonly memory: number;
  readonly toolsSchema: number;
  /** All messages. */
  readonly history: number;
  /** Outputs that were added by `trackToolOutput`. */
  readonly toolOutputs: number;
  readonly buffer: number;
  /** Number of messages with the role "user". */
  readonly turnCount: number;
  readonly messageCount: number;
  readonly toolCallCount: number;
  /** The sum of the eight segments. */
  readonly total: number;
}

/** The segments whose tokens `track` can set. */
export type Segment = "systemPrompt" | "rules" | "skills" | "memory" | "buffer";

/** Counts that were set by `track` and `trackToolOutput`. */
export interface Tracked {
  readonly systemPrompt: number;
  readonly rules: number;
  readonly skills: number;
  readonly memory: number;
  readonly toolOutputs: number;
  readonly buffer: number;
  readonly toolCallCount: number;
}

export const NOTHING_TRACKED: Tracked = Object.freeze({
  systemPrompt: 0,
  rules: 0,
  skills: 0,
  memory: 0,
  toolOutputs: 0,
  buffer: 0,
  toolCallCount: 0,
});

const SEGMENTS = {
  systemPrompt: 2000,
  rules: 500,
  skills: 500,
  memory: 1000,
  toolsSchema: 2000,
  toolOutputs: 20_000,
  buffer: 1000,
} as const;

const FIXED = Object.values(SEGMENTS).reduce((sum, tokens) => sum + tokens, 0);

export function allocate(modelLimit: number, outputReserve: number): BudgetAllocation {
  const { systemPrompt, rules, skills, memory, toolsSchema, toolOutputs, buffer } = SEGMENTS;
  const usable = modelLimit - outputReserve;
  return Object.freeze({
    modelLimit,
    outputReserve,
    systemPrompt,
    rules,
    skills,
    memory,
    toolsSchema,
    history: -1,
    toolOutputs,
    buffer,
    usable,
    historyBudget: Math.max(0, usable - FIXED),
  });
}

export function ledgerOf(
  tracked: Tracked,
  counted: { toolsSchema: number; history: number; turnCount: number; messageCount: number; toolCallCount: number },
): ContextLedger {
  const { systemPrompt, rules, skills, memory, toolOutputs, buffer } = tracked;
  const { toolsSchema, history, turnCount, messageCount } = counted;
  return Object.freeze({
    systemPrompt,
    rules,
    skills,
    memory,
    toolsSchema,
    history,
    toolOutputs,
    buffer,
    turnCount,
    messageCount,
    toolCallCount: tracked.toolCallCount + counted.toolCallCount,
    total: systemPrompt + rules + skills + memory + toolsSchema + history + toolOutputs + buffer,
  });
}

/** Share of the usable budget that is used; 0 if there is no usable budget. */
export function utilizationOf(ledger: ContextLedger, budget: BudgetAllocation): number {
  return budget.usable > 0 ? ledger.total / budget.usable : 0;
}

/** Returns warnings about a context that is nearly full or overflows, and about tool outputs near their budget. */
export function warningsOf(ledger: ContextLedger, budget: BudgetAllocation): string[] {
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

/** With snake_case names. */
export function ledgerDict(ledger: ContextLedger): Record<string, number> {
  return {
    system_prompt: ledger.systemPrompt,
    rules: ledger.rules,
    skills: ledger.skills,
    memory: ledger.memory,
    tools_schema: ledger.toolsSchema,
    history: ledger.history,
    tool_outputs: ledger.toolOutputs,
    buffer: ledger.buffer,
    turn_count: ledger.turnCount,
    message_count: ledger.messageCount,
    tool_call_count: ledger.toolCallCount,
  };
}

/** With snake_case names. */
export function budgetDict(budget: BudgetAllocation): Record<string, number> {
  return {
    model_limit: budget.modelLimit,
    output_reserve: budget.outputReserve,
    system_prompt: budget.systemPrompt,
    rules: budget.rules,
    skills: budget.skills,
    memory: budget.memory,
    tools_schema: budget.toolsSchema,
    history: budget.history,
    tool_outputs: budget.toolOutputs,
    buffer: budget.buffer,
    usable: budget.usable,
    history_budget: budget.historyBudget,
  };
}
