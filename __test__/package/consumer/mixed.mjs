// Both copies of the package in one process: each finds the run of the other.
import { createRequire } from "node:module";
import * as core from "agent-rewind";
import { z } from "zod";
import program from "./program.cjs";

const require = createRequire(import.meta.url);
const parameters = z.object({ a: z.number(), b: z.number() });
await program(core, require("agent-rewind/debugger"), parameters);
