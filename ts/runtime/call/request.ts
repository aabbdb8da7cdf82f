import { calling, native } from "../../native.js";
import { encodeInput, type EncodedInput, type InputRules, type RefusedAt } from "../../values/encode.js";
import { classSet, uncovered, warnInexact, type Class } from "../../values/inexact.js";
import type { RunContext } from "../scope/run-context.js";
import type { Scope } from "../scope/scope.js";
import { Attempt } from "./identity/attempts.js";
import { askedFrom, laneToFind, type AskedFrom } from "./identity/lanes.js";
import { RequestDocument } from "./request-document.js";
import { CallEntry, StartedCall, type CallRequest } from "./started-call.js";

/** Begins a call whose request is a value. */
export function beginCall(context: RunContext, kind: string, name: string, request: unknown): StartedCall {
  const { scope } = context;
  const from = askedFrom(scope);
  const document = documentOf(scope, kind, name, request, {});
  return new StartedCall(context, document, begin(context, from, document, request));
}

/** The request of a call, as a recording without a replay flag hashes it. */
export interface OlderRequest {
  /** The number of the flag. */
  readonly flag: number;
  readonly request: unknown;
  /** The content of the request that it does not cover, if there is any. The report lists it if the call is answered. */
  readonly uncovered?: string | undefined;
}

interface AttemptSpec {
  readonly kind: string;
  readonly name: string;
  readonly request: unknown;
  readonly older?: OlderRequest | undefined;
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
  { kind, name, attempt, exact, ...asked }: AttemptSpec,
): StartedCall {
  const { scope } = context;
  const { request, uncovered: unseen } = requestIn(scope, asked);
  const tried = new Attempt(context, attempt);
  const document = documentOf(scope, kind, name, request, { exact, asked, unseen });
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
interface HashedRequest extends CallRequest {
  readonly normalized: string | undefined;
}

function documentOf(
  scope: Scope,
  kind: string,
  name: string,
  request: unknown,
  { exact, asked, unseen }: { exact?: readonly Class[] | undefined; asked?: Asked; unseen?: string | undefined },
): HashedRequest {
  const { normalizer, redaction, inputRules } = scope.run;
  const rules = exact === undefined ? inputRules : withClasses(inputRules, exact);
  const input = inputOf(scope, request, rules);
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
    unseen,
    inSession: inSession(scope, kind, name, asked ?? { request }, rules),
    wireHash: redaction === undefined ? undefined : () => redaction.wireHash(sent),
  };
}

function inSession(
  { outerRecording, run: { redaction } }: Scope,
  kind: string,
  name: string,
  asked: Asked,
  rules: InputRules,
): CallRequest["inSession"] {
  if (outerRecording === undefined) return undefined;
  const { exactContent } = outerRecording.run.inputRules;
  if (exactContent === rules.exactContent && !(asked.request instanceof RequestDocument)) return undefined;
  const { request, uncovered: unseen } = requestIn(outerRecording, asked);
  const input = inputOf(outerRecording, request, { ...rules, exactContent });
  const text = requestText(kind, name, input);
  const [part] = input.inexact ?? [];
  return { request: () => redaction?.json(text) ?? text, inexact: part && placeOf(part), unseen };
}

type Asked = Pick<AttemptSpec, "request" | "older">;

/** The request as the recording of the frame hashes it. */
function requestIn({ frame }: Scope, { request, older }: Asked): Omit<OlderRequest, "flag"> {
  return older === undefined || frame.hasFlag(older.flag) ? { request } : older;
}

function inputOf(scope: Scope, request: unknown, rules: InputRules): EncodedInput {
  if (!(request instanceof RequestDocument)) return encodeInput(request, rules);
  return { text: request.text((secret) => scope.digest(secret)), types: null, restorable: true };
}

function placeOf({ path, reason }: RefusedAt): string {
  return `${path === "" ? "the request" : path}: ${reason}`;
}

function begin(
  { scope, within }: RunContext,
  from: AskedFrom,
  { kind, name, request, normalized, inexact }: HashedRequest,
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
