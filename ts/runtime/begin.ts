import { calling, type Begun } from "../native.js";
import { encodeInput } from "../values/encode.js";
import type { Scope } from "./scope.js";

/** A call that has been started, and the document that it asks with. */
export interface Started {
  readonly begun: Begun;
  /** As it is recorded. */
  readonly request: () => string;
  /** Hash of the request as it is sent, where what is recorded of it is redacted. */
  readonly wireHash: (() => string) | undefined;
}

/** Starts a call whose request is given as a value. */
export function beginCall(scope: Scope, kind: string, name: string, callId: string, request: unknown): Started {
  const sent = requestText(kind, name, request);
  const { normalizer, redaction } = scope.run;
  const text = redaction?.json(sent) ?? sent;
  const begun = calling(() =>
    scope.frame.begin(
      scope.recordable(JSON.stringify(kind)),
      JSON.stringify(callId),
      text,
      scope.frame.hasForeignHashes ? foreignRequestText(kind, name, request) : undefined,
      normalizer?.document(text, kind),
    ),
  );
  return { begun, request: () => text, wireHash: redaction === undefined ? undefined : () => redaction.wireHash(sent) };
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
