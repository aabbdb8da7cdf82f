// A production run becomes a test that passes as long as the agent sends the same requests.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { expectPassed, vitestProject, type VitestProject } from "../support/vitest-project.js";
import { cli } from "./support.js";

const SLOW = { timeout: 120_000 };

/** The modules of a project with agents, and a program that records production runs. */
const FILES = {
  "model.mjs": `
export const model = {
  id: "m",
  provider: "p",
  async *stream(messages) {
    if (process.env.OFFLINE) throw new Error("no model can be reached");
    const toolCall = { index: 0, id: "c", name: "weather", arguments: '{"city":"Oslo"}' };
    if (messages.at(-1).role === "user") yield { type: "tool_call", toolCall };
    else yield { type: "text", content: JSON.stringify({ advice: "a coat" }) };
    yield { type: "finish", finishReason: messages.at(-1).role === "user" ? "tool_calls" : "stop" };
  },
};
`,
  "agents.ts": `
import { createAgent, equipInstruction, equipTool, journalCall, promptAgent, runWith } from "agent-rewind";
import { z } from "zod";
import { model } from "./model.mjs";

const weather = {
  name: "weather",
  description: "tells the weather",
  parameters: z.object({ city: z.string() }),
  handler: ({ city }: { city: string }) => {
    if (process.env.OFFLINE) throw new Error("no weather can be reached");
    return { city, celsius: -3 };
  },
};

export const traveller = createAgent<{ city: string; day: Date }, { advice: string; day: Date }>({
  id: "traveller",
  handler: async ({ city, day }) => {
    equipInstruction(\`What to wear in \${city}?\`);
    equipTool(weather);
    const { advice } = await promptAgent(z.object({ advice: z.string() }));
    return { advice, day };
  },
});

export default createAgent<{ fails: boolean }, unknown>({
  id: "failing",
  handler: async ({ fails }) => {
    await journalCall({ kind: "http", name: "get", request: 1 }, () => 1);
    if (fails) throw new RangeError("it's \`broken\`");
  },
});

export const twice = (options = {}) =>
  runWith(async () => {
    const first = await traveller({ city: "Oslo", day: new Date(0) });
    const second = await traveller({ city: "Rome", day: new Date(0) });
    const rolled = await journalCall({ kind: "dice", name: "d6", request: {} }, () => Math.random());
    return [first, second, rolled];
  }, { model, ...options });
`,
  "produce.mjs": `
import { runWith } from "agent-rewind";
import { createTraceWriter } from "agent-rewind/debugger";
import failing, { traveller, twice } from "./agents.mjs";
import { model } from "./model.mjs";

const traced = async (file, run) => {
  const trace = createTraceWriter(file);
  await run(trace);
  await trace.close();
};
await traced("one.jsonl", (eventBus) =>
  runWith(() => traveller({ city: "Oslo", day: new Date(5) }), { model, eventBus }));
await traced("fails.jsonl", (eventBus) => runWith(() => failing({ fails: true }), { eventBus }).catch(() => {}));
await traced("twice.jsonl", (eventBus) => twice({ eventBus }));
`,
};

/** Runs the program with NODE_ENV=production, where snapshots are off. */
function produce({ folder, write }: VitestProject): void {
  write(
    "agents.mjs",
    FILES["agents.ts"].replaceAll(/<\{.*\}, .*>(?=\(\{$)/gm, "").replaceAll(/: \{ city: string \}/g, ""),
  );
  const ended = spawnSync(process.execPath, ["produce.mjs"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, NODE_ENV: "production" },
  });
  if (ended.status !== 0) throw new Error(ended.stderr);
}

describe("agent-rewind to-test", () => {
  it("writes tests that pass without models and tools and name the changed request otherwise", SLOW, async () => {
    using project = vitestProject(FILES);
    produce(project);
    const write = (...args: string[]) => cli(["to-test", ...args], { cwd: project.folder });
    const [model, agent] = ["./model.mjs#model", "./agents.ts#traveller"];
    const one = write("one.jsonl", "-o", "tests/one.test.ts", "--agent", agent, "--model", model, "--name", "advises");
    expect(one).toMatchObject({ code: 0, err: "" });
    expect(one.out).toBe("tests/one.test.ts\ntests/__recordings__/one.test.ts/advises.jsonl\n");
    expect(write("fails.jsonl", "-o", "fails.test.ts", "--agent", "agents.ts")).toMatchObject({ code: 0, err: "" });
    expect(write("twice.jsonl", "-o", "twice.test.ts", "--call", "agents.ts#twice")).toMatchObject({
      code: 0,
      err: "",
    });
    const source = readFileSync(join(project.folder, "tests/one.test.ts"), "utf8");
    expect(source).toContain('import { traveller } from "../agents.ts";');
    expect(source).toContain('const props = { city: "Oslo", day: new Date("1970-01-01T00:00:00.005Z") };');

    const env = { OFFLINE: "1", CI: "1" };
    const green = await project.run({ env });
    expectPassed(green);
    expect(Object.values(green.results)).toEqual(["passed", "passed", "passed"]);
    expect(green.text).not.toContain("agent-rewind:");

    project.write("agents.ts", FILES["agents.ts"].replace("What to wear", "What should I wear"));
    const red = await project.run({ env });
    expect(red.results).toMatchObject({ advises: "failed" });
    expect(Object.values(red.results).toSorted()).toEqual(["failed", "failed", "passed"]);
    expect(red.text).toMatch(/RecordingStaleError: messages\[0\]\.\S+ \(user\) changed in the prompt to "/);
    expect(red.text).toContain("- What to wear in Oslo?\n+ What should I wear in Oslo?\n");
  });

  it("writes the normalize rules of the run into the test", SLOW, async () => {
    const key = ["gh", "p_", "aB3dE5gH7j".repeat(4)].join("");
    const agents = `
import { createAgent, equipInstruction, equipTool, promptAgent } from "agent-rewind";
import { z } from "zod";

export const reporter = createAgent({
  id: "reporter",
  handler: async ({ token, ticket }) => {
    equipInstruction(\`It is \${new Date().toISOString()}, trace \${Math.random()}. Ticket \${ticket}, with \${token}.\`);
    equipTool({
      name: "weather",
      description: "tells the weather",
      parameters: z.object({ city: z.string() }),
      handler: ({ city }) => {
        if (process.env.OFFLINE) throw new Error("no weather can be reached");
        return { city, session: token, password: "open sesame" };
      },
    });
    return promptAgent(z.object({ advice: z.string() }));
  },
});
`;
    const produceRuled = `
import { runWith } from "agent-rewind";
import { createTraceWriter } from "agent-rewind/debugger";
import { reporter } from "./reporter.mjs";
import { model } from "./model.mjs";

const traced = async (file, options) => {
  const trace = createTraceWriter(file);
  await runWith(() => reporter({ token: ${JSON.stringify(key)}, ticket: "T-12345" }), { model, eventBus: trace, ...options });
  await trace.close();
};
const normalize = [
  { id: "time", pattern: /\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z/, replacement: "a/time" },
  { id: "number", pattern: /trace 0\\.\\d+(e-\\d+)?/i },
  { id: "none", pointer: ["/input/none", "/options/none"] },
];
const redact = { rules: [{ id: "ticket", pattern: /\\bT-\\d{5}\\b/ }, { id: "words", keys: ["password"] }], without: ["card-number"] };
await traced("both.jsonl", { normalize, redact });
await traced("plain.jsonl", { normalize: [normalize[0], { id: "own", apply: (document) => document }], redact: true });
`;
    using project = vitestProject({ ...FILES, "reporter.mjs": agents, "produce.mjs": produceRuled });
    produce(project);
    const flags = ["--agent", "reporter.mjs#reporter", "--model", "model.mjs#model"];
    const write = (trace: string, name: string) =>
      cli(["to-test", trace, "-o", `${name}.test.mjs`, ...flags, "--name", name], { cwd: project.folder });
    expect(write("both.jsonl", "ruled")).toMatchObject({ code: 0, err: "" });
    const env = { OFFLINE: "1", CI: "1" };
    expectPassed(await project.run({ env }));
    expect(readFileSync(join(project.folder, "ruled.test.mjs"), "utf8")).not.toContain(key);

    // A failing test names the change, as it does without rules.
    project.write("reporter.mjs", agents.replace("Ticket", "The ticket"));
    const red = await project.run({ env });
    expect(red.results).toEqual({ ruled: "failed" });
    expect(red.text).toContain("messages[0].content[0].text (user) changed");
    expect(red.text).toMatch(/^\+ .*The ticket/m);
    project.write("reporter.mjs", agents);

    // A recording cannot hold a rule that is a function.
    expect(write("plain.jsonl", "to be filled in")).toMatchObject({ code: 0, err: "" });
    const file = "to be filled in.test.mjs";
    const source = readFileSync(join(project.folder, file), "utf8");
    expect(source).toContain("const redact = true;");
    expect(source).toMatch(/\/\/ TO DO: put in the rule "own" that the run had: apply [0-9a-f]{64}/);
  });

  it("takes only rules from a recording, no other code", SLOW, () => {
    using project = vitestProject(FILES);
    produce(project);
    const lines = readFileSync(join(project.folder, "one.jsonl"), "utf8").split("\n");
    const evil = [
      "pattern /a/; process.exit(9) //g null",
      "pattern /a\n/ null",
      'pattern /a/g null + process.exit(9) + "',
      "pointer /a\n] ; process.exit(9) //",
      "apply */ process.exit(9)",
    ].map((definition, index) => ({ id: `r${index}\n"; process.exit(9) //`, definition }));
    const [start = "{}", ...rest] = lines;
    const first = JSON.stringify({ ...(JSON.parse(start) as object), normalize: evil });
    writeFileSync(join(project.folder, "evil.jsonl"), [first, ...rest].join("\n"));
    const target = join(project.folder, "evil.test.mjs");
    const { code } = cli(["to-test", "evil.jsonl", "-o", target, "--agent", "agents.ts#traveller"], {
      cwd: project.folder,
    });
    expect(code).toBe(0);
    const statements = readFileSync(target, "utf8").replaceAll(
      /\/\/.*$|"(?:[^"\\]|\\.)*"|\/(?:[^/\\\n]|\\.)+\/[a-z]*/gm,
      "",
    );
    expect(statements).not.toContain("process.exit");
    expect(readFileSync(target, "utf8").match(/TO DO/g)).toHaveLength(2);
    expect(spawnSync(process.execPath, ["--check", target], { encoding: "utf8" })).toMatchObject({
      status: 0,
      stderr: "",
    });
  });

  it("rejects traces and options that cannot become a test", SLOW, () => {
    using project = vitestProject(FILES);
    produce(project);
    const write = (...args: string[]) => cli(["to-test", ...args], { cwd: project.folder });
    const refused: [args: string[], code: number, message: string][] = [
      [["one.jsonl", "--agent", "agents.ts"], 2, "-o <file> is missing"],
      [["one.jsonl", "-o", "x.test.ts"], 2, "pass either --agent or --call"],
      [["one.jsonl", "-o", "x.test.ts", "--agent", "agents.ts#a-b"], 2, "an export of it"],
      [["one.jsonl", "-o", "x.test.ts", "--agent", "none.ts#a"], 3, "none.ts: file not found"],
      [["twice.jsonl", "-o", "x.test.ts", "--agent", "agents.ts#traveller"], 3, "no single root agent"],
      [["one.jsonl", "-o", "agents.ts", "--agent", "agents.ts#traveller"], 3, "EEXIST"],
    ];
    for (const [args, code, message] of refused) {
      const ended = write(...args);
      expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(message)]);
    }
    const text = readFileSync(join(project.folder, "one.jsonl"), "utf8");
    writeFileSync(join(project.folder, "cut.jsonl"), text.slice(0, text.indexOf('{"type":"agent:end"')));
    expect(write("cut.jsonl", "-o", "x.test.ts", "--agent", "agents.ts#traveller").err).toContain("has not ended");
    const key = `sk-proj-${"a1B2".repeat(8)}`;
    writeFileSync(join(project.folder, "key.jsonl"), text.replaceAll("Oslo", key));
    const secret = write("key.jsonl", "-o", "x.test.ts", "--agent", "agents.ts#traveller");
    expect([secret.code, secret.err]).toEqual([3, expect.stringContaining("would contain secrets (openai-key)")]);
    expect(existsSync(join(project.folder, "x.test.ts"))).toBe(false);
  });
});
