// A program: records the tests of the corpus into the folder that it is given. `scripts/record-fixtures.mjs` starts it.
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import {
  chatCompletion,
  chatStream,
  json,
  messagesStream,
  modelServer,
  responsesStream,
  type Received,
  type Scripted,
} from "../support/model-server.js";
import { expectPassed, vitestProject } from "../support/vitest-project.js";

const [, , folder = "", root = ""] = process.argv;
const FILE = "recorded.test.mjs";

function answer({ path, body, headers }: Received): Scripted {
  const plain = { "content-type": "text/plain" };
  const [, kind, name] = path.split("/");
  if (kind === "text") return { body: `got ${name}`, headers: plain };
  if (kind === "large") return { body: "large 語 ".repeat(1_500), headers: plain };
  if (kind === "bytes") {
    const bytes = Uint8Array.from({ length: 1_000 }, (_, index) => index % 256);
    return { body: bytes, headers: { "content-type": "application/octet-stream" } };
  }
  if (kind === "broken") return { body: "half", broken: true, headers: plain };
  if (kind === "anthropic") return { body: messagesStream(), cut: 50 };
  const { model, stream } = JSON.parse(body) as { model: string; stream?: boolean };
  if (model === "busy") return json({ error: { message: "busy" } }, { status: 503 });
  if (path.endsWith("/responses")) return { body: responsesStream(), cut: 64 };
  if (stream === true) return { body: chatStream(), cut: 97 };
  if (headers["x-tool"] === undefined || body.includes('"role":"tool"')) return json(chatCompletion("hello 🌍"));
  const call = { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Åre"}' } };
  const message = { role: "assistant", content: null, tool_calls: [call] };
  return json({ ...chatCompletion(""), choices: [{ index: 0, message, finish_reason: "tool_calls" }] });
}

await using server = await modelServer(answer);
using project = vitestProject({ [FILE]: readFileSync(join(root, "__test__/recorded/tests.mjs"), "utf8") });
expectPassed(await project.run({ env: { SERVER: server.url } }));
mkdirSync(folder, { recursive: true });
for (const name of [FILE, "__recordings__"]) {
  cpSync(join(project.folder, name), join(folder, name), { recursive: true });
}
