import { calling, native } from "../../native.js";
import { encodeInput, type RefusedAt } from "../../values/encode.js";
import { valueAt } from "../../values/pointer.js";
import type { RunContext } from "../scope/run-context.js";
import type { Scope } from "../scope/scope.js";
import { Attempt } from "./attempts.js";
import { askedFrom, laneToFind, type AskedFrom } from "./lanes.js";
import { CallEntry, StartedCall, type CallRequest } from "./started-call.js";

/** Begins a call whose request is a value. */
export function beginCall(context: RunContext, kind: string, name: string, request: unknown): StartedCall {
  const { scope } = context;
  const from = askedFrom(scope, beginCall);
  const document = documentOf(scope, kind, name, request);
  return new StartedCall(context, document, begin(context, from, document, request));
}

/**
 * Begins a call of a client, or continues the call that its client retries. A recorded answer of that call answers the
 * retry too. Otherwise the outcome of the last attempt is journaled; earlier attempts that still run journal nothing.
 */
export function beginAttempt(
  context: RunContext,
  from: AskedFrom,
  { kind, name, request, attempt }: { kind: string; name: string; request: unknown; attempt?: number },
): StartedCall {
  const { scope } = context;
  const tried = new Attempt(context, attempt);
  const document = documentOf(scope, kind, name, request);
  const keyOf = (hash: string): string => `${kind} ${hash} ${context.within ?? ""}`;
  const repeated = tried.repeated(() =>
    keyOf(calling(() => native.contentHash(document.normalized ?? document.request()))),
  );
  if (repeated !== undefined) {
    // Until the new attempt ends, the call is in flight.
    if (!repeated.hasRecordedAnswer) scope.frame.reopen(repeated.recorded.slot);
    return new StartedCall(context, document, repeated);
  }
  const entry = begin(context, from, document, request);
  tried.begins(entry, () => keyOf(entry.recorded.contentHash));
  return new StartedCall(context, document, entry);
}

/** A request, and the document that is hashed for it if rules leave values out. */
interface RequestDocument extends CallRequest {
  readonly normalized: string | undefined;
}

function documentOf(scope: Scope, kind: string, name: string, request: unknown): RequestDocument {
  const { normalizer, redaction } = scope.run;
  const { text: sent, inexact } = requestText(kind, name, request);
  const text = redaction?.json(sent) ?? sent;
  const normalized = normalizer?.document(text, kind);
  return {
    kind,
    name,
    request: () => text,
    normalized,
    inexact: inexact && uncovered(inexact, normalized),
    wireHash: redaction === undefined ? undefined : () => redaction.wireHash(sent),
  };
}

function begin(
  { scope, within }: RunContext,
  from: AskedFrom,
  { kind, name, request, normalized, inexact }: RequestDocument,
  value: unknown,
): CallEntry {
  const { frame } = scope;
  const callId = scope.nextCallId(kind, name);
  const kindText = scope.recordable(JSON.stringify(kind));
  const foreign = frame.hasForeignHashes ? foreignRequestText(kind, name, value) : undefined;
  const lane = laneToFind(scope, from);
  const recorded = calling(() =>
    frame.begin(
      kindText,
      JSON.stringify(callId),
      request(),
      foreign,
      normalized,
      inexact !== undefined,
      within === undefined ? undefined : JSON.stringify(within),
      lane,
    ),
  );
  return new CallEntry(callId, from, recorded);
}

/** The document that is hashed for a call. */
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

/** The document that `@rejelly/core` hashes for a call. */
function foreignRequestText(kind: string, name: string, request: unknown): string {
  const { text } = encodeInput(request);
  return kind === "prompt" ? text : `{"name":${JSON.stringify(name)},"input":${text}}`;
}
