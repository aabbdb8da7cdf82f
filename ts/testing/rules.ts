import { types } from "node:util";
import type { Message } from "../types/messages.js";
import type { MockMatcher, MockModelOptions, MockReply, MockRequest, MockRule } from "./types.js";

/** A rule, and how often it answered. */
export class RuleState {
  readonly rule: MockRule;
  readonly times: number;
  used = 0;
  readonly #place: number;

  constructor(rule: MockRule, place: number) {
    this.rule = rule;
    this.times = rule.times ?? (rule.when === undefined ? 1 : Infinity);
    this.#place = place;
  }

  get isUsedUp(): boolean {
    return this.used >= this.times;
  }

  /** Whether it answered as often as it must: its number of times, or once where it has none. */
  get isDone(): boolean {
    return this.used >= (this.times === Infinity ? 1 : this.times);
  }

  matches(request: MockRequest): boolean {
    const { when } = this.rule;
    if (when === undefined) return true;
    if (typeof when === "string") return request.text.includes(when);
    // `test` of an expression with the flag g or y goes on from where it was.
    return typeof when === "function" ? when(request) : request.text.search(when) >= 0;
  }

  describe(): string {
    const { name, when } = this.rule;
    const of = this.times === Infinity ? "" : ` of ${this.times}`;
    const label = name === undefined ? "" : `${name}: `;
    return `  ${this.#place}. ${label}${shown(when)}, used ${this.used}${of} time${this.used === 1 && of === "" ? "" : "s"}`;
  }
}

/** @throws TypeError naming the rule that is none. */
export function ruleStates(rules: MockModelOptions["rules"]): RuleState[] {
  if (!Array.isArray(rules)) throw new TypeError("createMockModel: options.rules must be an array");
  return rules.map((given: MockRule | MockReply, place) => new RuleState(checked(given, place), place));
}

function checked(given: MockRule | MockReply, place: number): MockRule {
  const refuse = (expected: string): never => {
    throw new TypeError(`createMockModel: options.rules[${place}]${expected}`);
  };
  if (typeof given === "string") return { reply: given };
  if (typeof given !== "object" || given === null) return refuse(" must be a rule, an answer or a text");
  if (!("reply" in given)) {
    if ("when" in given || "times" in given) refuse(" has no reply");
    return { reply: given };
  }
  const { when, times, reply } = given;
  if (!["string", "object", "function"].includes(typeof reply) || reply === null)
    refuse(".reply must be an answer, a text or a function that gives one");
  if (!isMatcher(when)) refuse(".when must be a string, a RegExp or a function");
  if (times !== undefined && !(times === Infinity || (Number.isInteger(times) && times > 0)))
    refuse(".times must be a whole number from 1");
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
  return `text that fits ${String(when)}`;
}

/** Text of all messages after the model's last one. */
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
