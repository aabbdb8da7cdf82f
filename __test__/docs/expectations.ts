/** The expected behavior of a program or a test file of the documentation, where its page does not print it. */
export interface Expectation {
  /** Standard output. By default the block of text that follows the program, and nothing where none does. */
  readonly output?: string | RegExp;
  /** Standard error. By default nothing. */
  readonly warns?: RegExp;
  /** Requests that reach a model endpoint in each run; of a test file, in the first one. */
  readonly asked?: number;
  /** Recordings that a test file writes. */
  readonly records?: readonly string[];
  /** A helper of a test file that a replay does not need: it is deleted before. */
  readonly goneOnReplay?: boolean;
  /** A change of a test file after which its recording is stale, and what vitest then prints. */
  readonly changed?: { readonly edits: readonly (readonly [string, string])[]; readonly says: readonly string[] };
}

const README_TRY =
  /^\[\s*'(answer [^']+)',\s*'(answer [^']+)',\s*'(answer [^']+)'\s*\] 3 calls made\n\[\s*'\1',\s*'\2',\s*'(?!\3)answer [^']+'\s*\] 4 calls made\n$/;

/** By page and file. */
export const expectations: Readonly<Record<string, Expectation>> = {
  "README.md try.mjs": { output: README_TRY },
  "README.md loop.mts": { output: "An answer.\n", asked: 1 },
  "README.md traveller.mts": { output: "{ advice: 'a shirt' } 6 completed\n" },
  "README.md modes.mts": { output: /^1 0 {\s+milliseconds: [\d.]+,/ },
  "docs/ai-sdk.md main.mjs": {
    output:
      /^{"advice":{"text":"Take a coat.","embedding":\[1,2\],"weather":{"city":"Åre","celsius":21,"at":"[^"]+"}},"same":true,"looked":1}\n$/,
    asked: 3,
  },
  "docs/ai-sdk.md handler.mjs": { output: "true true\n", asked: 1 },
  "docs/audit-log.md main.mjs": { output: /^true [12]\n$/ },
  "docs/context.md capture.mts": { output: "Message hash: 5aced9397fc4a6ba\n" },
  "docs/context.md text.mts": { output: "5aced9397fc4a6ba\n" },
  "docs/context.md callbacks.mts": { output: "Sending 1 messages\nHash: 5aced9397fc4a6ba\n" },
  "docs/context.md blocking.mts": { output: "RangeError: The context is too large.\n" },
  "docs/context.md runs.mts": { output: /^writer root\/agent:writer:0\/prompt:m:0 [0-9a-f]{16}\n$/ },
  "docs/context.md clients.mts": {
    output: /^1 {"model":"m","messages":\[{"role":"user","content":"hi"}\]}\n1 {"model":"m".*,"max_tokens":1}\n$/,
    asked: 2,
  },
  "docs/context.md drift.mts": { output: "{ broken: false, reusableMessages: 1 }\n" },
  "docs/context.md again.mts": { output: '200 {"model":"m","messages":[]} true\n', asked: 2 },
  "docs/context.md budget.mts": { output: "1 false pre_optimization post_optimization\n" },
  "docs/context.md monitor.mts": {
    output:
      /^{\n {2}"timestamp": "[^"]+",\n {2}"message_hash": "5aced9397fc4a6ba",\n {2}"tools_hash": "[0-9a-f]{16}",\n/,
  },
  "docs/fetch.md main.mjs": {
    output: '{"answers":["An answer.","An answer."],"again":["An answer.","An answer."]}\n',
    asked: 2,
  },
  "docs/langchain.md advice.test.js": {
    asked: 4,
    changed: {
      edits: [
        ["You say what", "You tell what"],
        ["configuration:", "maxRetries: 0, configuration:"],
      ],
      says: ["- You say what to wear.", "+ You tell what to wear."],
    },
  },
  "docs/mcp.md weather-server.mjs": { goneOnReplay: true },
  "docs/openai.md advice.ts": { output: '[{"advice":"a coat"},{"advice":"a coat"}]\n', asked: 1 },
  // The reporter of node:test differs by version: TAP, or a tree.
  "docs/testing.md hours.mjs": { output: /tells the opening hours[^]*pass 1\n[^]*fail 0\n/ },
  "docs/redaction.md main.mjs": { output: /^true\nfalse\n\[redacted:github-key:[0-9a-f]{16}\]\n$/ },
  "docs/redaction.md rules.mjs": {
    output:
      /^{\s*note: 'ask \[redacted:employee:[0-9a-f]{16}\]',\s+password: '\[redacted:password:[0-9a-f]{16}\]'\s*}\n\[ { rule: 'employee', pointer: '', span: \[ 4, 11 \] } \]\nask \[redacted:employee:[0-9a-f]{16}\] about it\n$/,
  },
  "docs/replay.md tour.mts": {
    output: `[${['{"result":"Report on moths: [\\"moths\\"]"}', '{"result":"Report on moths: [\\"moths\\"]"}', "2", "2", '{"result":"Report on moths: [\\"nothing\\"]"}'].join(",")}] 3\n`,
  },
  "docs/start.md client.mjs": { output: "true\n", asked: 1 },
  "docs/start.md sdk.mjs": { output: "true\n", asked: 1 },
  "docs/start.md framework.mjs": { output: "true\n", asked: 2 },
  "docs/time-travel.md main.mts": {
    output: "{ reason: 'before migration' } found 3 pages on test found 3 pages on test\n",
  },
  "docs/vitest.md support.test.js": {
    asked: 1,
    records: [
      "__recordings__/support.test.js/tells-the-opening-hours.jsonl",
      "__recordings__/support.test.js/tells-the-opening-hours.timing.jsonl",
    ],
    changed: {
      edits: [["in one sentence", "in two sentences"]],
      says: [
        "RecordingStaleError: messages[0].content (system) changed in the request to api.openai.com.",
        "- You answer customers in one sentence.\n+ You answer customers in two sentences.\n",
      ],
    },
  },
};
