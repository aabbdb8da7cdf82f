import { calling, native, type NativeBegun } from "../../native.js";
import { encodeInput, type RefusedAt } from "../../values/encode.js";
import { valueAt } from "../../values/pointer.js";
import type { Scope } from "../scope/scope.js";

/** A call that has been started, and the document that it asks with. */
export interface Started {
  readonly begun: NativeBegun;
  /** As it is recorded. */
  readonly request: () => string;
  /** Hash of the request as it is sent, where what is recorded of it is redacted. */
  readonly wireHash: (() => string) | undefined;
  /** Content of the request that its hash does not cover: where and what. */
  readonly inexact: string | undefined;
}

/** Starts a call whose request is given as a value. */
export function beginCall(scope: Scope, kind: string, name: string, callId: string, request: unknown): Started {
  return begin(scope, kind, callId, documentOf(scope, kind, name, request), () =>
    foreignRequestText(kind, name, request),
  );
}

/**
 * Starts a call of a client, or goes on with the one that its client tries again: that one's answer counts, if it was
 * recorded, and else how this attempt ends. Of an earlier attempt that still goes on nothing more is journaled.
 */
export function beginAttempt(
  scope: Scope,
  { kind, name, request, attempt }: { kind: string; name: string; request: unknown; attempt?: number },
): Started & { readonly callId: string } {
  const document = documentOf(scope, kind, name, request);
  const start = (): Started & { readonly callId: string } => {
    const callId = scope.nextCallId(kind, name);
    return { ...begin(scope, kind, callId, document, () => foreignRequestText(kind, name, request)), callId };
  };
  if (attempt === undefined) return start();
  const hash = calling(() => native.contentHash(document.normalized ?? document.text));
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
  return { ...again, request: () => document.text, wireHash: document.wireHash, inexact: document.inexact };
}

/** A request in the forms that are recorded of it. */
interface RequestDocument {
  readonly text: string;
  readonly normalized: string | undefined;
  readonly wireHash: (() => string) | undefined;
  readonly inexact: string | undefined;
}

function documentOf(scope: Scope, kind: string, name: string, request: unknown): RequestDocument {
  const { normalizer, redaction } = scope.run;
  const { text: sent, inexact } = requestText(kind, name, request);
  const text = redaction?.json(sent) ?? sent;
  const normalized = normalizer?.document(text, kind);
  return {
    text,
    normalized,
    inexact: inexact && uncovered(inexact, normalized),
    wireHash: redaction === undefined ? undefined : () => redaction.wireHash(sent),
  };
}

function begin(
  scope: Scope,
  kind: string,
  callId: string,
  { text, normalized, wireHash, inexact }: RequestDocument,
  foreign: () => string,
): Started {
  const { frame } = scope;
  const kindText = scope.recordable(JSON.stringify(kind));
  const foreignText = frame.hasForeignHashes ? foreign() : undefined;
  const begun = calling(() =>
    frame.begin(kindText, JSON.stringify(callId), text, foreignText, normalized, inexact !== undefined),
  );
  return { begun, request: () => text, wireHash, inexact };
}

/** The document that a call is hashed by. */
function requestText(
  kind: string,
  name: string,
  request: unknown,
): { text: string; inexact?: readonly RefusedAt[] | undefined } {
  const { text, types, inexact } = encodeInput(request);
  if (kind === "prompt" && types === null) return { text };
  const typed = types === null ? "" : `,"types":${types}`;
  return { text: `{"input":${text},"name":${JSON.stringify(name)}${typed}}`, inexact };
}

/**
 * The first of these parts that the hash does not cover. A part that a rule of `normalize` replaces is excluded from the
 * hash on purpose.
 */
function uncovered(parts: readonly RefusedAt[], normalized: string | undefined): string | undefined {
  const document: unknown = normalized === undefined ? undefined : JSON.parse(normalized);
  const part = parts.find(({ path }) => document === undefined || valueAt(document, `/input${path}`) === null);
  return part && `${part.path === "" ? "the request" : part.path}: ${part.reason}`;
}

/** The document that recordings of `@rejelly/core` hash a call by. */
function foreignRequestText(kind: string, name: string, request: unknown): string {
  const { text } = encodeInput(request);
  return kind === "prompt" ? text : `{"name":${JSON.stringify(name)},"input":${text}}`;
}
