// Parts of an answer that repeat a part of its request, such as the id of a JSON-RPC message.

import { received } from "../../errors/received.js";
import { memberOf, setMember } from "../../values/members.js";
import { tokensOf } from "../../values/normalize.js";
import { RequestDocument } from "./request-document.js";

/** An answer repeats a text or a number of its request. */
export interface Echo {
  /** JSON pointer into the request, such as `/id`. */
  from: string;
  /** JSON pointer into the answer. */
  to: string;
}

/** @throws TypeError if `given` is not an echo. */
export function checkEcho(given: unknown, owner: string): void {
  if (given === undefined) return;
  for (const field of ["from", "to"] as const) {
    const pointer: unknown = (given as Echo | null)?.[field];
    if (typeof pointer === "string" && pointer.startsWith("/")) continue;
    throw new TypeError(`${owner}.${field} must be a JSON pointer such as "/id", received ${received(pointer)}`);
  }
}

/** The pointers of the parts of an answer that repeat the request. */
export function echoesIn(answer: unknown, request: unknown, echoes: readonly Echo[]): string[] {
  const repeated = echoes.filter(({ from, to }) => {
    const sent = valueAt(request, tokensOf(from));
    return isEchoed(sent) && valueAt(answer, tokensOf(to)) === sent;
  });
  return repeated.map(({ to }) => to);
}

/** Replaces the parts of a recorded answer that repeated its request by those of the new request. Changes the answer. */
export function applyEchoes(
  answer: unknown,
  request: unknown,
  echoes: readonly Echo[],
  recorded: readonly string[],
): void {
  for (const { from, to } of echoes) {
    const sent = valueAt(request, tokensOf(from));
    if (recorded.includes(to) && isEchoed(sent)) setAt(answer, tokensOf(to), sent);
  }
}

function isEchoed(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

/** Also looks into texts that are JSON. */
function valueAt(value: unknown, tokens: readonly string[]): unknown {
  // A secret is not repeated, so its digest does not matter.
  const start = value instanceof RequestDocument ? value.text(() => "") : value;
  return tokens.reduce((at, token) => memberOf(typeof at === "string" ? parsed(at) : at, token), start);
}

function setAt(parent: unknown, [token = "", ...rest]: readonly string[], value: string | number): void {
  if (typeof parent !== "object" || parent === null) return;
  if (rest.length === 0) return setMember(parent, token, value);
  const member = memberOf(parent, token);
  if (typeof member !== "string") return setAt(member, rest, value);
  const inside = parsed(member);
  setAt(inside, rest, value);
  setMember(parent, token, JSON.stringify(inside));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
