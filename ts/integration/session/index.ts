// Recording sessions, for tests, and runs of whole processes. Not public: only `ts/testing/recording`, `ts/instrument` and
// `ts/register` may import this folder.

import { activeRuns } from "../../runtime/scope/active-runs.js";

export { RecordingSession } from "../../runtime/run/recording-session.js";
export { sessionContexts } from "../../runtime/scope/ambient.js";
export type { SeenCall } from "../../runtime/scope/seen-calls.js";
export { networkRules, type NetworkOptions } from "../../runtime/scope/network.js";
export { openProcessRun, type ProcessRun } from "../../runtime/run/run-with.js";

/** Tells the network guard that requests over HTTP/1 pass a layer that records them, whichever client sends them. */
export function takeHttp1(takes: boolean): void {
  activeRuns.takesHttp1 = takes;
}
