// Needs nothing but the package: no zod.
import { createRequire } from "node:module";
import * as core from "agent-rewind";
import * as sdk from "agent-rewind/ai-sdk";
import * as debug from "agent-rewind/debugger";
import * as fetch from "agent-rewind/fetch";

const require = createRequire(import.meta.url);
const names = (module) =>
  Object.keys(module)
    .filter((name) => name !== "default")
    .toSorted();
console.log(
  JSON.stringify({
    import: { core: names(core), debug: names(debug), fetch: names(fetch), sdk: names(sdk) },
    require: {
      core: names(require("agent-rewind")),
      debug: names(require("agent-rewind/debugger")),
      fetch: names(require("agent-rewind/fetch")),
      sdk: names(require("agent-rewind/ai-sdk")),
    },
  }),
);
