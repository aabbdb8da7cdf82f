export { isMockModelError, MockModelError } from "./error.js";
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
