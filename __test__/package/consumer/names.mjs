// Needs nothing but the package: no zod.
import { createRequire } from "node:module";
import * as core from "agent-rewind";
import * as context from "agent-rewind/context";
import * as debug from "agent-rewind/debugger";

const require = createRequire(import.meta.url);
const names = (module) =>
  Object.keys(module)
    .filter((name) => name !== "default")
    .toSorted();
console.log(
  JSON.stringify({
    import: { core: names(core), debug: names(debug), context: names(context) },
    require: {
      core: names(require("agent-rewind")),
      debug: names(require("agent-rewind/debugger")),
      context: names(require("agent-rewind/context")),
    },
  }),
);
