// All that an adapter of a client or a test runner uses of the runtime. Adapters import nothing else from it.

export type { IncompleteAnswer } from "../runtime/call/outcome.js";
export { journalCall, journaled, type CallInfo, type JournaledCall } from "../runtime/call/journal-call.js";
export { journalStreamed, type More, type StreamedAnswer } from "../runtime/call/streamed-call.js";
export { RecordingSession } from "../runtime/run/recording-session.js";
export { ambientContext, sessionContexts } from "../runtime/scope/ambient.js";
export { rejected } from "../runtime/scope/rejected.js";
export { captureContext, getContext, storage, type RunContext } from "../runtime/scope/run-context.js";
export type { SeenCall } from "../runtime/scope/run-state.js";
export { Normalizer, type NormalizeRule } from "../values/normalize.js";
export { keptHeaders, requestHeaders, responseHeaders, type HeaderList, type KeptHeaders } from "./headers.js";
export { replayStream, untilAfter, type Piece, type Until } from "./replay-stream.js";
export { Tap, recorderOf, since, type StreamEnd, type Tapped } from "./tap.js";
export { watchUnread } from "./watch-unread.js";
