import { calling, native } from "../../native.js";
import { encodeInput, type EncodedInput, type InputRules, type RefusedAt } from "../../values/encode.js";
import { classSet, uncovered, warnInexact, type Class } from "../../values/inexact.js";
import type { RunContext } from "../scope/run-context.js";
import type { Scope } from "../scope/scope.js";
import { Attempt } from "./identity/attempts.js";
import { askedFrom, laneToFind, type AskedFrom } from "./identity/lanes.js";
import { CallEntry, StartedCall, type CallRequest } from "./started-call.js";

/** Begins a call whose request is a value. */
export function beginCall(context: RunContext, kind: string, name: string, request: unknown): StartedCall {
  const { scope } = context;
  const from = askedFrom(scope, beginCall);
  const document = documentOf(scope, kind, name, request);
  return new StartedCall(context, document, begin(context, from, document, request));
}

interface AttemptSpec {
  readonly kind: string;
  readonly name: string;
  readonly request: unknown;
  readonly attempt?: number;
  readonly exact?: readonly Class[];
}

/**
 * Begins a call of a client, or continues the call that its client retries. A recorded answer of that call answers the
 * retry too. Otherwise the outcome of the last attempt is journaled; earlier attempts that still run journal nothing.
 */
export function beginAttempt(
  context: RunContext,
  from: AskedFrom,
  { kind, name, request, attempt, exact }: AttemptSpec,
): StartedCall {
  const { scope } = context;
  const tried = new Attempt(context, attempt);
  const document = documentOf(scope, kind, name, request, exact);
  const keyOf = (hash: string): string => `${kind} ${hash} ${context.within ?? ""}`;
  const repeated = tried.repeated(
    () => keyOf(calling(() => native.contentHash(document.normalized ?? document.request()))),
    from,
  );
  if (repeated !== undefined) {
    // The recording ends between two attempts: it does not have this one.
    const isRecorded = !scope.rules.ownAttempts || (attempt ?? 0) < repeated.recordedAttempts;
    if (repeated.hasRecordedAnswer && !isRecorded) repeated.answer = "in-flight";
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

function documentOf(
  scope: Scope,
  kind: string,
  name: string,
  request: unknown,
  exact?: readonly Class[],
): RequestDocument {
  const { normalizer, redaction, inputRules } = scope.run;
  const rules = exact === undefined ? inputRules : withClasses(inputRules, exact);
  const input = encodeInput(request, rules);
  const sent = requestText(kind, name, input);
  const text = redaction?.json(sent) ?? sent;
  const normalized = normalizer?.document(text, kind);
  const part = uncovered(input, normalized);
  if (part !== undefined && scope.run.warns) {
    warnInexact(`the request of the ${kind} call "${name}"`, "a replay executes the call again", part);
  }
  return {
    kind,
    name,
    request: () => text,
    normalized,
    inexact: part && placeOf(part),
    inSession: inSession(scope, kind, name, request, rules),
    wireHash: redaction === undefined ? undefined : () => redaction.wireHash(sent),
  };
}

function inSession(
  { outerRecording, run: { redaction } }: Scope,
  kind: string,
  name: string,
  request: unknown,
  rules: InputRules,
): CallRequest["inSession"] {
  if (outerRecording === undefined) return undefined;
  const { exactContent } = outerRecording.run.inputRules;
  if (exactContent === rules.exactContent) return undefined;
  const input = encodeInput(request, { ...rules, exactContent });
  const text = requestText(kind, name, input);
  const [part] = input.inexact ?? [];
  return { request: () => redaction?.json(text) ?? text, inexact: part && placeOf(part) };
}

function placeOf({ path, reason }: RefusedAt): string {
  return `${path === "" ? "the request" : path}: ${reason}`;
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
  const foreign = scope.rules.foreignHashes ? foreignRequestText(kind, name, value) : undefined;
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
function requestText(kind: string, name: string, { text, types }: EncodedInput): string {
  if (kind === "prompt" && types === null) return text;
  const typed = types === null ? "" : `,"types":${types}`;
  return `{"input":${text},"name":${JSON.stringify(name)}${typed}}`;
}

function withClasses(rules: InputRules, exact: readonly Class[]): InputRules {
  return { ...rules, exact: new Set([...(rules.exact ?? []), ...classSet("journalCall: call.exact", exact)]) };
}

/** The document that `@rejelly/core` hashes for a call. */
function foreignRequestText(kind: string, name: string, request: unknown): string {
  const { text } = encodeInput(request, { exactContent: false });
  return kind === "prompt" ? text : `{"name":${JSON.stringify(name)},"input":${text}}`;
}
