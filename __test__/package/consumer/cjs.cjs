const core = require("agent-rewind");
const debug = require("agent-rewind/debugger");
const { z } = require("zod");
const program = require("./program.cjs");

void program(core, debug, z.object({ a: z.number(), b: z.number() }));
