import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  createAgent,
  createEventBus,
  equipInstruction,
  equipMemory,
  equipSystem,
  equipTool,
  isRedactError,
  journalCall,
  promptAgent,
  recordToolUsage,
  replay,
  resume,
  runFrame,
  runWith,
  type AgentSnapshot,
  type ReplayReport,
  type RunWithOptions,
} from "agent-rewind";
import {
  contentHash,
  createTraceWriter,
  dumpSnapshot,
  forkSnapshot,
  parseSnapshot,
  readSnapshot,
  restoreSnapshotFromFile,
  restoreSnapshot,
  stringifySnapshot,
  writeSnapshot,
} from "agent-rewind/debugger";
import { createRedactor } from "agent-rewind/redact";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";

import { result, scriptedModel, textOf, toolCall, type ScriptedModel } from "../support/scripted-model.js";
import { secrets, sensitiveParts, type Secret } from "../support/secrets.js";

const folder = mkdtempSync(join(tmpdir(), "rewind-redact-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Program {
  run(): Promise<unknown>;
  model: ScriptedModel;
  /** The inputs of the executed tools and calls. */
  liveCalls: string[];
}

/** A program that meets a secret in every place that is recorded. */
function program(secret: string): Program {
  const liveCalls: string[] = [];
  const model = scriptedModel("m", (messages) => {
    const last = messages.at(-1);
    if (last?.role === "user") return toolCall("c1", "fetch", { token: secret, url: `https://x.test/?q=${secret}` });
    return result(`answer with ${secret} after ${textOf(last).length}`);
  });
  const tool = {
    name: "fetch",
    description: `fetches, e.g. with ${secret}`,
    parameters: z.object({ token: z.string().describe(`such as ${secret}`), url: z.string() }),
    handler: (input: { token: string; url: string }) => {
      liveCalls.push(input.token);
      return {
        body: `got ${secret}`,
        headers: { "x-note": secret },
        [secret]: new URL("https://a:hunter22@b.test/"),
        list: [secret],
      };
    },
  };
  const agent = createAgent<{ secret: string }, unknown>({
    id: "worker",
    model,
    handler: async (props) => {
      const [, setMemory] = equipMemory("kept", { first: props.secret });
      setMemory({ first: `second ${props.secret}` });
      equipSystem(`Use ${props.secret}.`);
      equipInstruction([
        { type: "text", text: `first ${props.secret}` },
        { type: "text", text: JSON.stringify({ nested: JSON.stringify({ deep: props.secret }) }) },
      ]);
      equipTool(tool);
      return promptAgent(z.object({ result: z.string() }));
    },
  });
  return {
    model,
    liveCalls,
    run: async () => {
      const answer = (await agent({ secret })) as { result: string };
      const echoed = await journalCall({ kind: "http", name: `GET /?s=${secret}`, request: { secret, answer } }, () => {
        liveCalls.push(answer.result);
        return { echo: `${answer.result} and ${secret}`, at: new Date(0) };
      });
      recordToolUsage({ name: "http", unit: "call", quantity: 1, costs: {}, details: { with: secret } });
      const failed = await journalCall({ kind: "http", name: "bad", request: [secret] }, () => {
        throw Object.assign(new Error(`refused ${secret}`), { headers: { note: secret } });
      }).catch((error: Error) => error.message);
      const inner = await runFrame({ id: `sub ${secret}`, input: { echoed } }, ({ echoed: { echo } }) => `in ${echo}`);
      return { answer, failed, inner };
    },
  };
}

interface Recording {
  snapshot: AgentSnapshot;
  value: unknown;
  trace: string;
  file: string;
}

let files = 0;

async function recordingOf(subject: Program, options: RunWithOptions = { redact: true }): Promise<Recording> {
  files += 1;
  const trace = join(folder, `trace-${files}.jsonl`);
  const file = join(folder, `snapshot-${files}.json`);
  const writer = createTraceWriter(trace, { sync: "off" });
  const bus = createEventBus();
  bus.subscribe("*", writer.emit);
  let snapshot: AgentSnapshot | undefined;
  const value = await runWith(
    async () => {
      const given = await subject.run();
      snapshot = dumpSnapshot({ metadata: { note: JSON.stringify(given) } });
      return given;
    },
    { ...options, eventBus: bus, trace: { attributes: { note: JSON.stringify(subject.liveCalls) } } },
  );
  await writer.close();
  await writeSnapshot(file, snapshot as AgentSnapshot);
  return { snapshot: snapshot as AgentSnapshot, value, trace, file };
}

async function replayed(
  subject: Program,
  snapshot: AgentSnapshot,
  options: object = { redact: true },
): Promise<ReplayReport> {
  let report: ReplayReport | undefined;
  await replay(() => subject.run(), { snapshot, ...options, onReport: (given) => void (report = given) });
  expect(subject.liveCalls).toEqual([]);
  expect(subject.model.calls).toEqual([]);
  expect(report).toMatchObject({ missed: 0, live: 0 });
  expect((report as ReplayReport).replayed).toBeGreaterThan(0);
  return report as ReplayReport;
}

function expectNoLeak(text: string, secret: Secret): void {
  for (const part of sensitiveParts(secret)) {
    expect(text).not.toContain(part);
    expect(text).not.toContain(JSON.stringify(part).slice(1, -1));
  }
}

describe("a redacted run", () => {
  it.each(secrets())("writes nothing of $rule, $name and replays without a miss", async (secret) => {
    const live = program(secret.text);
    const { trace, file, value } = await recordingOf(live);
    // The agent, its tools and the model see the real values.
    expect(live.liveCalls[0]).toBe(secret.text);
    expect(JSON.stringify(live.model.calls[0]?.messages)).toContain(JSON.stringify(secret.text).slice(1, -1));
    expect(JSON.stringify(value)).toContain(JSON.stringify(secret.text).slice(1, -1));
    for (const path of [trace, file]) {
      const text = readFileSync(path, "utf8");
      expectNoLeak(text, secret);
      expect(text).toContain(`[redacted:${secret.rule}`);
      // Not even with escapes undone.
      expectNoLeak(text.replaceAll("\\", ""), secret);
    }
    await replayed(program(secret.text), await readSnapshot(file));
    await replayed(program(secret.text), await restoreSnapshotFromFile(trace));
  });

  it("passes placeholders to the agent when it is replayed", async () => {
    const [secret] = secrets() as [Secret];
    const { snapshot } = await recordingOf(program(secret.text));
    const again = await replay(() => program(secret.text).run(), { snapshot, redact: true });
    expectNoLeak(JSON.stringify((again as { answer: unknown }).answer), secret);
    expect(JSON.stringify(again)).toContain("[redacted:openai-key:");
    // A program that has only placeholders sends the same requests.
    const placeholder = createRedactor().text(secret.text);
    await replayed(program(placeholder), snapshot);
  });

  it("can be forked, resumed and dumped again", async () => {
    const [secret] = secrets() as [Secret];
    const { snapshot } = await recordingOf(program(secret.text));
    const call = snapshot.root.calls?.find(({ kind }) => kind === "http");
    const fork = forkSnapshot(snapshot, { at: call?.callId as string, drop: true });
    expect(fork.redact).toEqual(snapshot.redact);
    const again = program(secret.text);
    let text = "";
    await resume(
      async () => {
        await again.run();
        text = stringifySnapshot(dumpSnapshot());
      },
      { snapshot: fork, redact: true },
    );
    // Calculated from replayed values, so that the program knows only placeholders.
    expect(again.liveCalls).toHaveLength(1);
    expectNoLeak(text, secret);
    await replayed(program(secret.text), parseSnapshot(text));
  });

  it("keeps a hash of the content that was sent", async () => {
    const [secret] = secrets() as [Secret];
    const { snapshot } = await recordingOf(program(secret.text));
    const call = snapshot.root.calls?.find(({ callId }) => callId.includes("http:bad"));
    expect(call?.meta?.wireHash).toBe(contentHash(JSON.stringify({ input: [secret.text], name: "bad" })));
    expect(call?.contentHash).toBe(
      contentHash(JSON.stringify({ input: [createRedactor().text(secret.text)], name: "bad" })),
    );
    const prompt = Object.values(snapshot.root.children)[0]?.calls?.[0];
    const plain = await recordingOf(program(secret.text), {});
    expect(prompt?.meta?.wireHash).toBe(Object.values(plain.snapshot.root.children)[0]?.calls?.[0]?.contentHash);
    expect(plain.snapshot.redact).toBeUndefined();
  });

  it("works with custom rules, with normalize and with a redactor", async () => {
    const secret = secrets().find(({ rule }) => rule === "card-number") as Secret;
    const redact = { key: "pepper", rules: [{ id: "words", pattern: /first|second/g }], without: ["jwt" as const] };
    const normalize = [{ id: "got", pattern: /got/ }];
    const { snapshot, trace } = await recordingOf(program(secret.text), { redact, normalize });
    const text = readFileSync(trace, "utf8");
    expect(text).toMatch(/\[redacted:card-number:[0-9a-f]{16}\]/);
    expect(text).toMatch(/\[redacted:words:[0-9a-f]{16}\] \[redacted:card-number:/);
    await replayed(program(secret.text), snapshot, { redact, normalize });
    await replayed(program(secret.text), snapshot, { redact: createRedactor(redact), normalize });
    await replayed(program(secret.text), restoreSnapshot(text), { redact, normalize });
  });
});

describe("different redaction rules", () => {
  it("are rejected before anything runs, and the error names both", async () => {
    const [secret] = secrets() as [Secret];
    const { snapshot, trace } = await recordingOf(program(secret.text), {
      redact: { key: "a", rules: [{ id: "x", pattern: /zzz/ }] },
    });
    const plain = await recordingOf(program(secret.text), {});
    const cases: [AgentSnapshot, object, RegExp][] = [
      [snapshot, {}, /recorded under the rules \["x"\], with the key [0-9a-f]{16}.+ run is without redaction/],
      [snapshot, { redact: true }, /run is under the rules \[\] \(/],
      [snapshot, { redact: { key: "b", rules: [{ id: "x", pattern: /zzz/ }] } }, /with the key/],
      [snapshot, { redact: { key: "a", rules: [{ id: "x", pattern: /zz/ }] } }, /would not match the recorded ones/],
      [restoreSnapshot(readFileSync(trace, "utf8")), {}, /recorded under the rules \["x"\]/],
      [plain.snapshot, { redact: true }, /recorded without redaction/],
    ];
    for (const [given, options, message] of cases) {
      const subject = program(secret.text);
      const error: unknown = await replay(() => subject.run(), { snapshot: given, ...options }).catch(
        (caught: unknown) => caught,
      );
      expect(isRedactError(error)).toBe(true);
      expect((error as Error).message).toMatch(message);
      expect(subject.liveCalls).toEqual([]);
    }
    await replayed(program(secret.text), snapshot, { redact: { key: "a", rules: [{ id: "x", pattern: /zzz/ }] } });
  });

  it("and invalid rules are rejected", async () => {
    await expect(runWith(() => 1, { redact: 5 as never })).rejects.toThrow(TypeError);
    await expect(runWith(() => 1, { redact: { rules: [{ id: "x" } as never] } })).rejects.toThrow(
      /^runWith: options.redact.rules.0 \("x"\) must have either pattern or keys$/,
    );
  });
});
