// The texts of requests, and the notes that programs write about answers.

import { inspect } from "node:util";

import { equipMemory } from "agent-rewind";

import { digest } from "../lib/random.mjs";

export function requestOf({ id, same, reads, after }, { log, shared }) {
  if (same) return { what: "the same" };
  const request = { node: id };
  if (after !== undefined) request.after = after;
  for (const what of reads) {
    if (what === "local") request.local = digest(log.join());
    else if (what === "shared") request.shared = digest(shared.join());
    else request.memory = equipMemory("a", "none")[0];
  }
  return request;
}

export function textOf(value) {
  return typeof value === "string" ? value : inspect(value, { depth: 20, breakLength: Infinity });
}

export function errorText(error) {
  if (!(error instanceof Error)) return textOf(error);
  const inner = error.cause === undefined ? "" : ` because of ${errorText(error.cause)}`;
  const several = error.errors === undefined ? "" : ` of ${error.errors.map(errorText).join(" and ")}`;
  return `${error.name} ${error.message} ${error.code ?? ""}${inner}${several}`;
}
