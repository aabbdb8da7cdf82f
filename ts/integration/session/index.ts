// Recording sessions, for test runners. Not public: only `ts/testing/recording` may import this folder.

export { RecordingSession } from "../../runtime/run/recording-session.js";
export { sessionContexts } from "../../runtime/scope/ambient.js";
export type { SeenCall } from "../../runtime/scope/seen-calls.js";
export { networkRules, type NetworkOptions } from "../../runtime/scope/network.js";
