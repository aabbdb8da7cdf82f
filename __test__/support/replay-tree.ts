// A program that replays the tree from a snapshot file and prints its live calls.

import { runWith } from "agent-rewind";
import { readSnapshot } from "agent-rewind/debugger";

import { tree } from "./tree.js";

const replay = tree();
const snapshot = await readSnapshot(process.argv[2] ?? "");
const result = await runWith(() => replay.run(), { snapshot, model: replay.model });
console.log(JSON.stringify({ result, model: replay.model.calls.length, tool: replay.toolInputs.length }));
