// Three requests, one after the other. END: how the program ends after the second one.
const ask = async (n) => {
  const response = await fetch(`${process.env.BASE}/${n}`, {
    headers: { "x-api-key": "sk-live-0123456789abcdefghijklmn" },
  });
  return response.text();
};

console.log(await ask(1));
console.log(await ask(2));
if (process.env.END === "exit") process.exit(0);
if (process.env.END === "throw") throw new Error("the program is broken");
if (process.env.END === "kill") {
  // The end of a call is written in the turn of the event loop that it happens in.
  setTimeout(() => process.kill(process.pid, "SIGKILL"), 500);
  await new Promise(() => {});
}
console.log(await ask(3).catch((error) => `caught ${error.name}`));
