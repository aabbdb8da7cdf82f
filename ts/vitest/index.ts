import { expect } from "vitest";

import { readColors } from "./failure.js";
import type { RecordingReport } from "../testing/recording/seen.js";
import { matchers, type RecordingMatchers } from "./matchers.js";

export { matchers, type CalledToolOptions, type RecordingMatchers } from "./matchers.js";
export type { RecordingMode } from "../testing/recording/mode.js";
export type { RecordingOptions } from "../testing/recording/recorded-test.js";
export type { Recording, RecordingReport, TestCall } from "../testing/recording/seen.js";
export { recordingTest, test, test as it, type RecordingFixtures } from "./test.js";
export type { ExpectedToolCall, TrajectoryStep } from "./trajectory.js";
export { withRecording } from "./with-recording.js";

declare module "vitest" {
  // eslint-disable-next-line typescript/no-empty-object-type
  interface Matchers<T = any> extends RecordingMatchers {}

  interface TaskMeta {
    /** Set by tests with a recording, for reporters. */
    agentRewind?: RecordingReport;
  }
}

expect.extend(matchers);
readColors();
