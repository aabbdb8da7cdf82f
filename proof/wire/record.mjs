// node proof/wire/record.mjs: installs two versions of each client into temporary folders, sends a request with each on
// Node.js 20 and 24, and writes what a server received to proof/wire/sent.json.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { fetchNode } from "../../scripts/lib/node-versions.mjs";
import { at } from "../../scripts/lib/paths.mjs";

/** A version of each client, and the next one. */
const VERSIONS = {
  openai: ["7.57.0", "7.59.0"],
  "@anthropic-ai/sdk": ["1.14.0", "1.15.0"],
  "@google/genai": ["2.30.0", "2.32.0"],
  "@mistralai/mistralai": ["2.6.3", "2.6.4"],
  "cohere-ai": ["8.0.0", "8.0.1"],
  "@aws-sdk/client-bedrock-runtime": ["3.1163.0", "3.1164.0"],
  ollama: ["0.6.3", "0.6.4"],
  "groq-sdk": ["1.4.0", "1.4.1"],
  "together-ai": ["0.48.0", "0.49.0"],
  "@huggingface/inference": ["4.13.28", "4.13.30"],
  axios: ["1.21.0", "1.21.1"],
  "@modelcontextprotocol/sdk": ["1.32.1", "1.32.2"],
  replicate: ["1.3.0", "1.3.1"],
  "@ai-sdk/openai": ["4.0.117", "4.0.118"],
  ai: ["7.0.172", "7.0.173"],
};

const nodes = [await fetchNode("20"), await fetchNode("24")];
const sent = [];
for (const which of [0, 1]) {
  const folder = mkdtempSync(join(tmpdir(), "agent-rewind-wire-"));
  try {
    const dependencies = Object.fromEntries(Object.entries(VERSIONS).map(([name, pair]) => [name, pair[which]]));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
    const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", install, { cwd: folder, stdio: "inherit" });
    copyFileSync(at("proof/wire/send.mjs"), join(folder, "send.mjs"));
    for (const node of nodes) {
      const text = execFileSync(node, ["send.mjs"], { cwd: folder, encoding: "utf8", maxBuffer: 1e8 });
      for (const request of JSON.parse(text)) {
        const version = VERSIONS[request.client.split(" ")[0]][which];
        sent.push({ client: request.client, version, ...request });
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
writeFileSync(at("proof/wire/sent.json"), `[\n${sent.map((request) => JSON.stringify(request)).join(",\n")}\n]\n`);
console.log(`${sent.length} requests of ${new Set(sent.map(({ client }) => client)).size} clients`);
