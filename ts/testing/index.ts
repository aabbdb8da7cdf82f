export { isMockModelError, MockModelError } from "./error.js";
export type { RecordingMode } from "./recording/mode.js";
export type { RecordingOptions } from "./recording/recorded-test.js";
export type { Recording, TestCall } from "./recording/seen.js";
export { withRecording } from "./with-recording.js";
export { createMockModel, type MockModel } from "./mock-model.js";
export type {
  MockAnswer,
  MockCall,
  MockMatcher,
  MockModelOptions,
  MockReply,
  MockRequest,
  MockRule,
  MockToolCall,
} from "./types.js";
