// Recording sessions, for tests, and runs of whole processes. Not public: only `ts/testing/recording`, `ts/instrument` and
// `ts/register` may import this folder.

export { RecordingSession } from "../../runtime/run/recording-session.js";
export { sessionContexts } from "../../runtime/scope/ambient.js";
export type { SeenCall } from "../../runtime/scope/seen-calls.js";
export { networkRules, type NetworkOptions } from "../../runtime/scope/network.js";
export { openProcessRun, type ProcessRun } from "../../runtime/run/run-with.js";
export type { Refused } from "../../runtime/scope/misses.js";
export { takeHttp1 } from "../ambient.js";
