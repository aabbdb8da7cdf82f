// Three requests, one after the other. END: how the program ends after the second one.
const ask = async (n) => {
  const response = await fetch(`${process.env.BASE}/${n}`, { headers: { "x-api-key": "sk-live-0123456789abcdefghijklmn" } });
  return response.text();
};

console.log(await ask(1));
console.log(await ask(2));
if (process.env.END === "exit") process.exit(0);
if (process.env.END === "throw") throw new Error("the program is broken");
if (process.env.END === "kill") {
  // What was emitted in this turn of the event loop is written in it.
  setImmediate(() => setImmediate(() => process.kill(process.pid, "SIGKILL")));
  await new Promise(() => {});
}
console.log(await ask(3).catch((error) => `caught ${error.name}`));
