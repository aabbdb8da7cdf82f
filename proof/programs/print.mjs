/** A program as pseudo-code. */
export function printProgram({ raceFree, body }) {
  return [`program${raceFree ? " without races" : ""} {`, ...printAll(body), "}"].join("\n");
}

function printAll(nodes) {
  return nodes.flatMap((node) => PRINT[node.op](node)).map((line) => `  ${line}`);
}

const block = (head, body) => [`${head} {`, ...printAll(body), "}"];
const branches = (head, list, tail) => [
  head,
  ...list.flatMap((body) => block("  async", body).map((line, index) => (index === 0 ? line : `  ${line}`))),
  tail,
];

const PRINT = {
  call: (node) => [`await ${call(node)}`],
  stream: (node) => {
    const { use, body = [], count, when, how } = node;
    switch (use) {
      case "later":
        return [`const r = await ${request(node)}`, ...printAll(body).map((line) => line.slice(2)), `await r.${how}()`];
      case "part":
        return [`await (await ${request(node)}).${count} pieces, cancel`];
      case "never":
        return [`await ${request(node)}, never read`];
      case "abort":
        return [
          `const r = ${when === "head" ? "" : "await "}${request(node)}`,
          ...printAll(body).map((line) => line.slice(2)),
          `abort r; await its end, and a call`,
        ];
      default:
        return [`await (await ${request(node)}).${how}()`];
    }
  },
  contest: ({ how, losers, waits, streams, body }) => [
    `const r = await Promise.${how}([`,
    ...streams.map((node) => `  ${request(node)}`),
    `]); ${losers} the others${waits ? ", await that" : ""}; a call`,
    ...printAll(body).map((line) => line.slice(2)),
    `await r.read(); a call`,
  ],
  push: ({ id }) => [`shared.push(${id})`],
  memory: ({ key, write }) => [write ? `memory.${key} = f(memory.${key}, log)` : `log memory.${key}`],
  ticks: ({ count }) => [`${count} × await null`],
  throw: ({ id }) => [`throw new ProgramError(${id})`],
  prompt: ({ id, reads, tools, toolFails, wrongAnswers, ...rest }) => [
    `await prompt(${[id, ...reads].join(", ")})${tools > 0 ? `, ${tools} tools` : ""}${toolFails ? ", the first fails" : ""}` +
      `${wrongAnswers > 0 ? `, ${wrongAnswers} wrong answers` : ""}${failing(rest)}`,
  ],
  agent: ({ id, agentId, reads, frame, reborns, body }) =>
    block(
      `await ${frame ? "runFrame" : "agent"} ${agentId}(${[id, ...reads].join(", ")})${reborns > 0 ? `, reborn ${reborns} times` : ""}`,
      body,
    ),
  parallel: ({ how, branches: list }) => branches(`await Promise.${how}([`, list, "])"),
  fan: ({ call: first, branches: list }) =>
    branches(`const p = ${call(first)}; await Promise.all([ // each: await p, then`, list, "])"),
  fork: ({ body }) => block("void async", body),
  retry: ({ times, body }) => block(`retry ${times} times`, body),
  repeat: ({ times, body }) => block(`repeat ${times} times`, body),
  catch: ({ body, fallback }) => [
    ...block("try", body),
    ...(fallback.length === 0 ? ["catch {}"] : block("catch", fallback)),
  ],
  wrap: ({ body }) => [...block("try", body), "catch (cause) { throw new ProgramError({ cause }) }"],
  choose: ({ yes, no }) => [...block("if (f(log))", yes), ...block("else", no)],
};

function call({ id, via, name, same, reads, heedsAbort, ...rest }) {
  return `${via} ${name}(${same ? '"the same"' : [id, ...reads].join(", ")})${heedsAbort ? "" : " deaf to aborts"}${failing(rest)} // ${id}`;
}

function request({ id, name, same, reads, shape, chunks, pushed, ...rest }) {
  const body = `${shape} in ${chunks}${pushed ? " that come by themselves" : ""}`;
  return `fetch ${name}(${same ? '"the same"' : [id, ...reads].join(", ")}) of ${body}${failing(rest)} /* ${id} */`;
}

function failing({ fails = 0, failure }) {
  if (fails === 0) return "";
  return fails < 0 ? `, fails with ${failure}` : `, fails ${fails} times with ${failure}`;
}
