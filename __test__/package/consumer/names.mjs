// Needs nothing but the package: no zod, no openai.
import { createRequire } from "node:module";
import * as core from "agent-rewind";
import * as context from "agent-rewind/context";
import * as debug from "agent-rewind/debugger";
import * as openai from "agent-rewind/openai";
import * as testing from "agent-rewind/testing";
import * as fetch from "agent-rewind/fetch";

const require = createRequire(import.meta.url);
const names = (module) =>
  Object.keys(module)
    .filter((name) => name !== "default")
    .toSorted();
const entries = ["openai", "testing", "fetch"];
console.log(
  JSON.stringify({
<<<<<<< HEAD
    import: {
      core: names(core),
      debug: names(debug),
      openai: names(openai),
      testing: names(testing),
      fetch: names(fetch),
    },
    require: {
      core: names(require("agent-rewind")),
      debug: names(require("agent-rewind/debugger")),
      ...Object.fromEntries(entries.map((entry) => [entry, names(require(`agent-rewind/${entry}`))])),
=======
    import: { core: names(core), debug: names(debug), context: names(context) },
    require: {
      core: names(require("agent-rewind")),
      debug: names(require("agent-rewind/debugger")),
      context: names(require("agent-rewind/context")),
>>>>>>> capture
    },
  }),
);
