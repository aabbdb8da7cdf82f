// Calls every export that panics and prints the errors. The last line shows that Node.js survived.
import { createRequire } from "node:module";

const [addon] = process.argv.slice(2);
const { Panicking, panicInFunction, panicInAsyncFunction, panicInTask } = createRequire(import.meta.url)(addon);
const object = new Panicking(false);

const PANICS = {
  function: () => panicInFunction(),
  "async function": () => panicInAsyncFunction(),
  task: () => panicInTask(),
  constructor: () => new Panicking(true),
  factory: () => Panicking.make(),
  method: () => object.method(true),
  getter: () => object.value,
  setter: () => {
    object.value = 1;
  },
  "async method": () => object.asyncMethod(),
};

const failures = {};
for (const [kind, call] of Object.entries(PANICS)) {
  try {
    await call();
    failures[kind] = "no failure";
  } catch (error) {
    failures[kind] = `${error.name}: ${error.message}`;
  }
}
console.log(JSON.stringify({ failures, works: object.method(false) }));
