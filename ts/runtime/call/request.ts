import { calling, native, type NativeStartedCall } from "../../native.js";
import { encodeInput } from "../../values/encode.js";
import type { Scope } from "../scope/scope.js";

/** A call that has begun. */
export interface Started {
  readonly begun: NativeStartedCall;
  /** The request document in the form that is recorded, as JSON text. */
  readonly request: () => string;
  /** Hash of the request as it is sent. Only if its recording is redacted. */
  readonly wireHash: (() => string) | undefined;
}

/** Begins a call whose request is a value. */
export function beginCall(scope: Scope, kind: string, name: string, callId: string, request: unknown): Started {
  return begin(scope, kind, callId, documentOf(scope, kind, name, request), () =>
    foreignRequestText(kind, name, request),
  );
}

/**
 * Begins a call of a client, or continues the call that its client retries. A recorded answer of that call answers the
 * retry too. Otherwise the outcome of the last attempt is journaled; earlier attempts that still run journal nothing.
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
  return { ...again, request: () => document.text, wireHash: document.wireHash };
}

/** The recorded forms of a request. */
interface RequestDocument {
  readonly text: string;
  readonly normalized: string | undefined;
  readonly wireHash: (() => string) | undefined;
}

function documentOf(scope: Scope, kind: string, name: string, request: unknown): RequestDocument {
  const { normalizer, redaction } = scope.run;
  const sent = requestText(kind, name, request);
  const text = redaction?.json(sent) ?? sent;
  return {
    text,
    normalized: normalizer?.document(text, kind),
    wireHash: redaction === undefined ? undefined : () => redaction.wireHash(sent),
  };
}

function begin(
  scope: Scope,
  kind: string,
  callId: string,
  { text, normalized, wireHash }: RequestDocument,
  foreign: () => string,
): Started {
  const { frame } = scope;
  const kindText = scope.recordable(JSON.stringify(kind));
  const begun = calling(() =>
    frame.begin(kindText, JSON.stringify(callId), text, frame.hasForeignHashes ? foreign() : undefined, normalized),
  );
  return { begun, request: () => text, wireHash };
}

/** The document that is hashed for a call. */
function requestText(kind: string, name: string, request: unknown): string {
  const { text, types } = encodeInput(request);
  if (kind === "prompt" && types === null) return text;
  const typed = types === null ? "" : `,"types":${types}`;
  return `{"input":${text},"name":${JSON.stringify(name)}${typed}}`;
}

/** The document that `@rejelly/core` hashes for a call. */
function foreignRequestText(kind: string, name: string, request: unknown): string {
  const { text } = encodeInput(request);
  return kind === "prompt" ? text : `{"name":${JSON.stringify(name)},"input":${text}}`;
}
