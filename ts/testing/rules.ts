import { types } from "node:util";
import type { Message } from "../types/messages.js";
import type { MockMatcher, MockModelOptions, MockReply, MockRequest, MockRule } from "./types.js";

/** A rule with the number of its uses. */
export class RuleState {
  readonly rule: MockRule;
  readonly times: number;
  used = 0;
  readonly #index: number;

  constructor(rule: MockRule, index: number) {
    this.rule = rule;
    this.times = rule.times ?? (rule.when === undefined ? 1 : Infinity);
    this.#index = index;
  }

  get isUsedUp(): boolean {
    return this.used >= this.times;
  }

  /** True if the rule was used `times` times, or once if it has no limit. */
  get isDone(): boolean {
    return this.used >= (this.times === Infinity ? 1 : this.times);
  }

  matches(request: MockRequest): boolean {
    const { when } = this.rule;
    if (when === undefined) return true;
    if (typeof when === "string") return request.text.includes(when);
    // Not `test`: with the flag g or y, it would start at the end of its last match.
    return typeof when === "function" ? when(request) : request.text.search(when) >= 0;
  }

  describe(): string {
    const { name, when } = this.rule;
    const of = this.times === Infinity ? "" : ` of ${this.times}`;
    const label = name === undefined ? "" : `${name}: `;
    return `  ${this.#index}. ${label}${shown(when)}, used ${this.used}${of} time${this.used === 1 && of === "" ? "" : "s"}`;
  }
}

/** @throws TypeError that names the invalid rule. */
export function ruleStates(rules: MockModelOptions["rules"]): RuleState[] {
  if (!Array.isArray(rules)) throw new TypeError("createMockModel: options.rules must be an array");
  return rules.map((given: MockRule | MockReply, index) => new RuleState(checked(given, index), index));
}

function checked(given: MockRule | MockReply, index: number): MockRule {
  const refuse = (expected: string): never => {
    throw new TypeError(`createMockModel: options.rules[${index}]${expected}`);
  };
  if (typeof given === "string") return { reply: given };
  if (typeof given !== "object" || given === null) return refuse(" must be a rule, an answer or a string");
  if (!("reply" in given)) {
    if ("when" in given || "times" in given) refuse(" has no reply");
    return { reply: given };
  }
  const { when, times, reply } = given;
  if (!["string", "object", "function"].includes(typeof reply) || reply === null)
    refuse(".reply must be an answer, a string or a function that returns one");
  if (!isMatcher(when)) refuse(".when must be a string, a RegExp or a function");
  if (times !== undefined && !(times === Infinity || (Number.isInteger(times) && times > 0)))
    refuse(".times must be a positive integer");
  return given;
}

function isMatcher(when: unknown): boolean {
  return when === undefined || typeof when === "string" || typeof when === "function" || types.isRegExp(when);
}

function shown(when: MockMatcher | undefined): string {
  if (when === undefined) return "any request";
  if (typeof when === "string") return `text with ${JSON.stringify(when)}`;
  if (typeof when === "function")
    return when.name === "" || when.name === "when" ? "a function" : `function ${when.name}`;
  return `text that matches ${String(when)}`;
}

/** The text of all messages after the last message of the model. */
export function newText(messages: readonly Message[]): string {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  return messages
    .slice(last + 1)
    .map(({ content }) => {
      if (typeof content === "string" || content === null) return content ?? "";
      return content.map((part) => (part.type === "text" ? part.text : "")).join("");
    })
    .join("\n");
}
