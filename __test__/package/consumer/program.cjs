// Records one tool call, replays it, and prints the results.
module.exports = async function program({ runWith, callTool }, { dumpSnapshot }, parameters) {
  let calls = 0;
  const add = {
    name: "add",
    description: "Adds two numbers",
    parameters,
    handler: async ({ a, b }) => {
      calls += 1;
      return a + b;
    },
  };
  const run = async () => ({ sum: await callTool(add, { a: 1, b: 2 }), snapshot: dumpSnapshot() });
  const recorded = await runWith(run, { enableSnapshot: true });
  const snapshot = JSON.parse(JSON.stringify(recorded.snapshot));
  const replayed = await runWith(run, { enableSnapshot: true, snapshot });
  console.log(JSON.stringify({ calls, sums: [recorded.sum, replayed.sum] }));
};
