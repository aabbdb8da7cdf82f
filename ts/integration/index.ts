// The public API for adapters of clients. The adapters of this package use nothing else of the runtime.

export { ambientContext, asTransport, outsideOfRuns, type AmbientContext } from "./ambient.js";
export { keptHeaders, responseHeaders, withoutPause, type HeaderList, type KeptHeaders } from "./headers.js";
export { HttpRequest, type RequestDocumentOptions, type SentRequest } from "./http/document.js";
export { readUrl } from "./http/url.js";
export { VOLATILE_PARTS, type VolatileParts } from "./http/volatile.js";
export { checkEcho, type Echo } from "../runtime/call/echo.js";
export {
  journaled,
  journalStreamed,
  type AnsweredFailure,
  type AnswerRecorder,
  type CallInfo,
  type CallResult,
  type ClientCall,
  type IncompleteAnswer,
  type JournaledCall,
  type OlderRequest,
  type RestOfAnswer,
  type StreamFailure,
  type StreamedAnswer,
  type StreamedCallInfo,
  type StreamedClientCall,
} from "./journaled.js";
export {
  recordedTiming,
  replayStream,
  type ReplayStreamOptions,
  type TimedChunk,
  type WaitUntil,
} from "./replay-stream.js";
export {
  failureInStream,
  incompleteStream,
  millisecondsSince,
  Tap,
  type StreamEnd,
  type TapOptions,
  type Tapped,
} from "./tap.js";
export { watchUnread, type Unread } from "./watch-unread.js";
export { getContext, type RunContext } from "../runtime/scope/run-context.js";
