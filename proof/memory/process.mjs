// node --expose-gc proof/memory/process.mjs COUNT…: prints the measurements as JSON.
import { measure } from "./runs.mjs";

console.log(JSON.stringify(await measure(process.argv.slice(2).map(Number))));
