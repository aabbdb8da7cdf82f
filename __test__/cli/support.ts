import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import {
  createAgent,
  createEventBus,
  equipInstruction,
  equipTool,
  journalCall,
  promptAgent,
  runWith,
  type AgentSnapshot,
} from "agent-rewind";
import { createTraceWriter, dumpSnapshot, writeSnapshot } from "agent-rewind/debugger";
import { z } from "zod";

import { result, scriptedModel, toolCall } from "../support/scripted-model.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const { bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { bin: Record<string, string> };

/** The program that `npx agent-rewind` starts. */
export const BIN: string = join(root, bin["agent-rewind"] as string);

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

export interface CliOptions {
  cwd?: string;
  input?: string | Uint8Array;
  env?: Record<string, string>;
}

export function cli(args: readonly string[], { cwd, input, env }: CliOptions = {}): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    cwd,
    input,
    encoding: "utf8",
    maxBuffer: 1 << 30,
    env: { ...process.env, ...env },
  });
  return { code: status, out: stdout, err: stderr };
}

/** Runs a shell line in which `rewind` is the command. */
export function shell(line: string, cwd: string): Promise<Ended> {
  const script = `set -o pipefail; rewind() { "${process.execPath}" "${BIN}" "$@"; }; ${line}`;
  const child = spawn("bash", ["-c", script], { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += String(chunk)));
  child.stderr.on("data", (chunk: Buffer) => (err += String(chunk)));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

/** Records a run with a sub-agent, a tool, a handled failure and a call in flight. */
export async function record(
  snapshotFile: string,
  traceFile: string,
  question = "what to wear",
): Promise<AgentSnapshot> {
  const model = scriptedModel("gpt", (messages) =>
    messages.at(-1)?.role === "user" ? toolCall("c1", "weather", { city: "Oslo" }) : result("a coat"),
  );
  const weather = {
    name: "weather",
    description: "tells the weather",
    parameters: z.object({ city: z.string() }),
    handler: ({ city }: { city: string }) => ({ city, celsius: -3 }),
  };
  const traveller = createAgent<{ question: string }, unknown>({
    id: "traveller",
    model,
    handler: async (props) => {
      equipInstruction(props.question);
      equipTool(weather);
      return promptAgent(z.object({ result: z.string() }));
    },
  });
  const writer = createTraceWriter(traceFile, { sync: "off" });
  const bus = createEventBus();
  bus.subscribe("*", writer.emit);
  const snapshot = await runWith(
    async () => {
      await traveller({ question });
      await journalCall({ kind: "http", name: "bad\u001b[31m", request: 1 }, () => {
        throw new RangeError("no\nsuch page");
      }).catch(() => {});
      const pending = journalCall({ kind: "http", name: "slow", request: 2 }, () => new Promise(() => {}));
      pending.catch(() => {});
      return dumpSnapshot({ metadata: { release: "1.2.3" } });
    },
    { eventBus: bus, trace: { traceId: "0af7651916cd43dd8448eb211c80319c" } },
  );
  await writer.close();
  await writeSnapshot(snapshotFile, snapshot);
  return snapshot;
}
