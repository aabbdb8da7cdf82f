// Needs nothing but the package: no zod.
import { createRequire } from "node:module";
import * as core from "agent-rewind";
import * as audit from "agent-rewind/audit";
import * as debug from "agent-rewind/debugger";
import * as redact from "agent-rewind/redact";

const require = createRequire(import.meta.url);
const names = (module) =>
  Object.keys(module)
    .filter((name) => name !== "default")
    .toSorted();
console.log(
  JSON.stringify({
    import: { core: names(core), debug: names(debug), redact: names(redact), audit: names(audit) },
    require: {
      core: names(require("agent-rewind")),
      debug: names(require("agent-rewind/debugger")),
      redact: names(require("agent-rewind/redact")),
      audit: names(require("agent-rewind/audit")),
    },
  }),
);
