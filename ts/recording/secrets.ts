import type { FoundSecret } from "../errors/recording.js";
import type { Blobs } from "./blobs.js";
import { createRedactor, type Redactor } from "../redact/redactor.js";
import type { BuiltinRedactRule } from "../redact/rules.js";
import { checkSnapshot } from "../snapshot/open.js";
import { ReadModel, type SharedRequest } from "../snapshot/read-model.js";
import type { AgentSnapshot } from "../types/snapshot.js";
import { pointerTokens } from "../values/pointer.js";

/**
 * Finds the values that redaction would replace, except images and files, each once.
 * @param blobs the values that are stored in files beside the recording.
 * @throws TypeError, RedactError if `allowed` names an unknown rule.
 */
export function findSecrets(
  snapshot: AgentSnapshot,
  blobs: Blobs,
  allowed: readonly BuiltinRedactRule[] = [],
): FoundSecret[] {
  const redactor = createRedactor({ without: [...new Set<BuiltinRedactRule>(["base64", ...allowed])] });
  const finder = new Finder(redactor);
  const model = new ReadModel(checkSnapshot(snapshot).handle);
  for (const { generations, callId, ...frame } of model.frames) {
    finder.search(callId, frame);
    for (const { calls, ...generation } of generations) {
      finder.search(callId, generation);
      for (const call of calls) {
        // Parts that earlier requests contain were searched there.
        const { document, shared } = model.sharedRequest(call) ?? {};
        finder.search(call.callId ?? callId, { ...call, request: document }, shared);
      }
    }
  }
  for (const [name, content] of blobs) {
    const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("latin1");
    finder.search(`the file ${name}`, text);
  }
  return finder.found;
}

class Finder {
  readonly found: FoundSecret[] = [];
  readonly #redactor: Redactor;
  readonly #seen = new Set<string>();

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  search(place: string, value: unknown, shared: SharedRequest["shared"] = {}): void {
    for (const { rule, pointer, key, span } of this.#redactor.findInJson(JSON.stringify(value))) {
      let at: unknown = value;
      let path = "";
      for (const token of pointerTokens(pointer) ?? []) {
        const { keep = 0 } = shared[path.slice("/request".length)] ?? {};
        at = (at as Record<string, unknown>)[token];
        path += keep === 0 ? `/${token}` : `/${Number(token) + keep}`;
      }
      const secret = key !== true && typeof at === "string" ? at.slice(...span) : pointer;
      if (this.#seen.has(`${rule} ${secret}`)) continue;
      this.#seen.add(`${rule} ${secret}`);
      this.found.push({ rule, place, pointer: path });
    }
  }
}
