import { calling, native, type Begun } from "../native.js";
import { encodeInput } from "../values/encode.js";
import type { Scope } from "./scope.js";

/** A call that has been started, and the document that it asks with. */
export interface Started {
  readonly begun: Begun;
  readonly request: () => string;
}

/** Starts a call whose request is given as a value. */
export function beginCall(scope: Scope, kind: string, name: string, callId: string, request: unknown): Started {
  const text = requestText(kind, name, request);
  const { normalizer } = scope.run;
  const begun = calling(() =>
    scope.frame.begin(
      JSON.stringify(kind),
      JSON.stringify(callId),
      text,
      scope.frame.hasForeignHashes ? foreignRequestText(kind, name, request) : undefined,
      normalizer?.document(text, kind),
    ),
  );
  return { begun, request: () => text };
}

/**
 * Starts a call of a client, or goes on with the one that its client tries again: that one's answer counts, if it was
 * recorded, and else how this attempt ends. Of an earlier attempt that still goes on nothing more is journaled.
 */
export function beginAttempt(
  scope: Scope,
  { kind, name, request, attempt }: { kind: string; name: string; request: unknown; attempt?: number },
): Started & { readonly callId: string } {
  const start = (): Started & { readonly callId: string } => {
    const callId = scope.nextCallId(kind, name);
    return { ...beginCall(scope, kind, name, callId, request), callId };
  };
  if (attempt === undefined) return start();
  const text = requestText(kind, name, request);
  const hash = calling(() => native.contentHash(scope.run.normalizer?.document(text, kind) ?? text));
  const key = `${kind} ${hash}`;
  const last = attempt > 0 ? scope.attempts.get(key) : undefined;
  if (last === undefined) {
    const started = start();
    scope.attempts.set(key, started);
    return started;
  }
  const again = { begun: { ...last.begun }, callId: last.callId };
  delete last.begun.slot;
  scope.attempts.set(key, again);
  return { ...again, request: () => text };
}

/** The document that a call is hashed by. */
function requestText(kind: string, name: string, request: unknown): string {
  const { text, types } = encodeInput(request);
  if (kind === "prompt" && types === null) return text;
  const typed = types === null ? "" : `,"types":${types}`;
  return `{"input":${text},"name":${JSON.stringify(name)}${typed}}`;
}

/** The document that recordings of `@rejelly/core` hash a call by. */
function foreignRequestText(kind: string, name: string, request: unknown): string {
  const { text } = encodeInput(request);
  return kind === "prompt" ? text : `{"name":${JSON.stringify(name)},"input":${text}}`;
}
