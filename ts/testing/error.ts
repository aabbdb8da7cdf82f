import { named, RewindError, type ErrorGuard } from "../errors/base.js";

/** A mock model received a request that no rule answers, or has rules that were not used. */
export class MockModelError extends RewindError {
  declare readonly code: "ERR_REWIND_MOCK_UNEXPECTED_PROMPT" | "ERR_REWIND_MOCK_UNUSED_RULES";
  /** The rules, one line each, with the number of uses. */
  readonly rules: readonly string[];
  /** The text of the request that no rule answers. */
  readonly text: string | undefined;

  constructor(message: string, code: MockModelError["code"], rules: readonly string[], text?: string) {
    super(`${message}\n${rules.length === 0 ? "It has no rules." : `Its rules:\n${rules.join("\n")}`}`, code);
    this.rules = rules;
    this.text = text;
  }
}

export const isMockModelError: ErrorGuard<MockModelError> = named(MockModelError, "MockModelError");
