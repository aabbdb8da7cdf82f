import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { exports } = require("agent-rewind/package.json");
const names = (module) =>
  Object.keys(module)
    .filter((name) => name !== "default")
    .toSorted();

/** The names of all exports, by entry point. */
const all = { import: {}, require: {} };
for (const [path, conditions] of Object.entries(exports)) {
  if (typeof conditions === "string" || conditions.require === undefined) continue;
  const name = path === "." ? "core" : path.slice(2);
  all.import[name] = names(await import(`agent-rewind${path.slice(1)}`));
  all.require[name] = names(require(`agent-rewind${path.slice(1)}`));
}
console.log(JSON.stringify(all));
