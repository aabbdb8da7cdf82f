import * as core from "agent-rewind";
import * as debug from "agent-rewind/debugger";
import { z } from "zod";
import program from "./program.cjs";

await program(core, debug, z.object({ a: z.number(), b: z.number() }));
