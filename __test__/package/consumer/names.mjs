// Needs nothing but the package: no zod, no openai.
import { createRequire } from "node:module";
import * as core from "agent-rewind";
import * as debug from "agent-rewind/debugger";
import * as openai from "agent-rewind/openai";
import * as testing from "agent-rewind/testing";

const require = createRequire(import.meta.url);
const names = (module) =>
  Object.keys(module)
    .filter((name) => name !== "default")
    .toSorted();
console.log(
  JSON.stringify({
    import: { core: names(core), debug: names(debug), openai: names(openai), testing: names(testing) },
    require: {
      core: names(require("agent-rewind")),
      debug: names(require("agent-rewind/debugger")),
      openai: names(require("agent-rewind/openai")),
      testing: names(require("agent-rewind/testing")),
    },
  }),
);
