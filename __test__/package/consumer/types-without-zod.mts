import { runWith } from "agent-rewind";
import { dumpSnapshot } from "agent-rewind/debugger";

export const version: number = await runWith(async () => dumpSnapshot().version);
