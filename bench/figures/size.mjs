import { createAgent, equipInstruction, journalCall, promptAgent, runWith } from "agent-rewind";
import { rewindMiddleware } from "agent-rewind/ai-sdk";
import { collectTrace, createEventBus, createTraceWriter, dumpSnapshot, stringifySnapshot } from "agent-rewind/debugger";
