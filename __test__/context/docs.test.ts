// Every program of the page is run as it stands.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { modelServer, type ModelServer } from "./model-server.js";
import { temporaryFolder } from "../support/process.js";

const page = readFileSync(new URL("../../docs/context.md", import.meta.url), "utf8");
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map((match) => match[1] ?? "");

/** What a program takes as given, by name. */
const GIVEN: Record<string, string> = {
  messages: `[{ role: "user", content: "hi" }]`,
  tools: `[{ name: "t" }]`,
  systemPrompt: `"You are helpful."`,
  manager: "new (await import('agent-rewind/context')).ContextManager()",
  model: `{ id: "m", async *stream() { yield { type: "text", content: "fine" }; yield { type: "finish", finishReason: "stop" }; } }`,
  hookData: `await new Promise((resolve) => {
    manager.registerSnapshotCallback(resolve);
    manager.captureFetch()(process.env.SERVER + "/v1/chat/completions", { method: "POST", body: '{"model":"m","messages":[]}' });
  })`,
};

/** What follows a program, to see that it works; and what is then printed. */
const CHECKS: { after?: string; prints: RegExp; files?: string[] }[] = [
  { prints: /^Message hash: 5aced9397fc4a6ba\n$/ },
  { prints: /^5aced9397fc4a6ba\n$/ },
  {
    after: "manager.captureLlmBoundary(messages); await manager.flush();",
    prints: /^Sending 1 messages\nHash: 5aced9397fc4a6ba\n$/,
    files: ["llm_calls.log"],
  },
  {
    after: `
      manager.captureLlmBoundary(messages);
      try { manager.captureLlmBoundary([{ role: "user", content: "word ".repeat(200_000) }]); } catch ({ message }) { console.log(message); }`,
    prints: /^The context is too large\.\n$/,
  },
  { prints: /^writer root\/agent:writer:0\/prompt:m:0 [0-9a-f]{16}\n$/ },
  {
    after: `
      const sent = { model: "m", messages };
      await openai.chat.completions.create(sent);
      await anthropic.messages.create({ ...sent, max_tokens: 1 });`,
    prints: /^1 {"model":"m","messages":\[{"role":"user","content":"hi"}\]}\n1 {"model":"m".*,"max_tokens":1}\n$/,
  },
  { prints: /^$/ },
  { prints: /^{ broken: false, reusableMessages: 1 }\n$/ },
  { after: "console.log(response.status, body);", prints: /^200 {"model":"m","messages":\[\]}\n$/ },
  {
    after: "console.log(fitting.length, optimized, pre.timing, post.timing);",
    prints: /^1 false pre_optimization post_optimization\n$/,
  },
  {
    prints:
      /^{\n {2}"timestamp": "[^"]+",\n {2}"message_hash": "5aced9397fc4a6ba",\n {2}"tools_hash": "[0-9a-f]{16}",\n/,
    files: ["context.txt"],
  },
];

let server: ModelServer;
let folder: string;

beforeAll(async () => {
  server = await modelServer();
  folder = temporaryFolder();
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The declarations of what a program takes as given, and of what those take. */
function prelude(program: string): string {
  const declared = (name: string): boolean =>
    new RegExp(`\\b(?:const|let) (?:{[^}]*\\b)?${name}\\b(?!:)`).test(program);
  const used = (name: string, text: string): boolean => new RegExp(`\\b${name}\\b`).test(text);
  const needed = Object.keys(GIVEN).filter(
    (name) => !declared(name) && (used(name, program) || (name === "manager" && used("hookData", program))),
  );
  return needed.map((name) => `const ${name} = ${GIVEN[name]};\n`).join("");
}

async function run(program: string, name: string): Promise<string> {
  const imports = [...program.matchAll(/^import .*$/gm)].map(([line]) => line);
  const body = program.replaceAll(/^import .*$/gm, "");
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, `${imports.join("\n")}\n${prelude(body)}${body}`);
  const env = {
    ...process.env,
    SERVER: server.url,
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: `${server.url}/v1`,
    ANTHROPIC_API_KEY: "k",
    ANTHROPIC_BASE_URL: server.url,
  };
  const child = spawn(process.execPath, [file], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, errors]: [string[], string[]] = [[], []];
  child.stdout.on("data", (data: Buffer) => out.push(String(data)));
  child.stderr.on("data", (data: Buffer) => errors.push(String(data)));
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect([code, errors.join("")]).toEqual([0, ""]);
  return out.join("");
}

describe("the programs of docs/context.md", () => {
  const programs = blocks("ts");

  it("are all run", () => {
    expect(programs).toHaveLength(CHECKS.length);
  });

  it.each(programs.map((program, index) => ({ index, program })))("number $index", async ({ index, program }) => {
    const { after = "", prints, files = [] } = CHECKS[index] ?? { prints: /never/ };
    expect(await run(`${program}\n${after}`, `program-${index}`)).toMatch(prints);
    for (const file of files) expect(existsSync(join(folder, file))).toBe(true);
  });

  it.skipIf(spawnSync("python3", ["--version"]).status !== 0)("in Python agree", () => {
    const [program] = blocks("python");
    const check = `assert verify_payload([{"role": "user", "content": "hi"}], "5aced9397fc4a6ba")`;
    expect(spawnSync("python3", ["-c", `${program}\n${check}`], { encoding: "utf8" })).toMatchObject({
      status: 0,
      stderr: "",
    });
  });
});
