import { named, RewindError, type ErrorGuard } from "../errors/base.js";

/** A mock model was asked what no rule of it answers, or was not asked what its rules expect. */
export class MockModelError extends RewindError {
  declare readonly code: "ERR_REWIND_MOCK_UNEXPECTED_PROMPT" | "ERR_REWIND_MOCK_UNUSED_RULES";
  /** The rules, one line each, and how often each was used. */
  readonly rules: readonly string[];
  /** Text of the request that no rule answers. */
  readonly text: string | undefined;

  constructor(message: string, code: MockModelError["code"], rules: readonly string[], text?: string) {
    super(`${message}\n${rules.length === 0 ? "It has no rules." : `Its rules:\n${rules.join("\n")}`}`, code);
    this.rules = rules;
    this.text = text;
  }
}

export const isMockModelError: ErrorGuard<MockModelError> = named(MockModelError, "MockModelError");
