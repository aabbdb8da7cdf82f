import { expect } from "vitest";

import { matchers, type RecordingMatchers } from "./matchers.js";

export { matchers, type CalledToolOptions, type RecordingMatchers } from "./matchers.js";
export type { RecordingMode } from "./mode.js";
export type { Recording, TestCall } from "./recording.js";
export type { RecordingOptions } from "./session.js";
export { recordingTest, test, test as it, type RecordingFixtures } from "./test.js";
export type { ExpectedToolCall, TrajectoryStep } from "./trajectory.js";
export { withRecording } from "./with-recording.js";

declare module "vitest" {
  // eslint-disable-next-line typescript/no-empty-object-type
  interface Matchers<T = any> extends RecordingMatchers {}
}

expect.extend(matchers);
