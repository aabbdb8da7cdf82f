// Probes for leaks: secrets, in the forms in which tools print them, on every way into a recording.
import { journalCall, runFrame, runWith, type TraceEvent } from "agent-rewind";
import { dumpSnapshot, stringifySnapshot } from "agent-rewind/debugger";
import { rewindFetch } from "agent-rewind/fetch";
import { createRedactor } from "agent-rewind/redact";
import { expect, it } from "vitest";

import { secrets, sensitiveParts } from "../support/secrets.js";

const OPAQUE = "abcDEF0123456789abcDEF0123456789";
/** Secrets without a form, which their names announce. The text shows how the name stands before the value. */
const NAMED: Record<string, [text: string, secret: string]> = {
  "a key in the environment": [`MISTRAL_API_KEY=${OPAQUE}`, OPAQUE],
  "an exported key": [`export COHERE_API_KEY="${OPAQUE}"`, OPAQUE],
  "a key of a deployment": [`AZURE_OPENAI_API_KEY: ${OPAQUE}`, OPAQUE],
  "a token": [`GITHUB_TOKEN=${OPAQUE}`, OPAQUE],
  "a token in camel case": [`"vaultToken": "${OPAQUE}"`, OPAQUE],
  "a secret": [`JWT_SECRET=${OPAQUE}`, OPAQUE],
  "a private key": [`DEPLOYER_PRIVATE_KEY=0x${"a1b2c3d4".repeat(8)}`, "a1b2c3d4".repeat(8)],
  "a password": ["DATABASE_PASSWORD=s3cr3t-Passw0rd!", "s3cr3t-Passw0rd"],
  "a short password": ["PGPASSWORD=hunter2", "hunter2"],
  "a password in camel case": ["smtpPassword: 'correct9horse'", "correct9horse"],
  "a header with cookies": [`Cookie: theme=dark; sid=${OPAQUE}`, OPAQUE],
  "a header that sets a cookie": [`set-cookie: sid=${OPAQUE}; Path=/; HttpOnly`, OPAQUE],
};

interface Probe {
  readonly name: string;
  readonly text: string;
  readonly secret: readonly string[];
}

const all: Probe[] = [
  ...secrets()
    // Bytes of 64 lines, and texts with spaces, keep their form only as they are.
    .filter(({ rule }) => rule !== "private-key" && rule !== "card-number")
    .map((secret) => ({ name: secret.name, text: secret.text, secret: sensitiveParts(secret) })),
  ...Object.entries(NAMED).map(([name, [text, secret]]) => ({ name, text, secret: [secret] })),
];

/** How a text arrives. */
const FORMS: Record<string, (text: string) => string> = {
  plain: (text) => text,
  "in a color": (text) => `\u001b[31m${text}\u001b[0m`,
  "in colors of a search": (text) => `config.env:3:\u001b[01;31m\u001b[K${text}\u001b[m\u001b[K`,
  "in 256 colors": (text) => `\u001b[38;5;196m${text}\u001b[39m`,
  "in true color with colons": (text) => `\u001b[38:2::255:0:0m${text}\u001b[0m`,
  "after a character set": (text) => `\u001b(B${text}\u001b(B`,
  "in a written color": (text) => String.raw`\u001b[32m${text}\u001b[0m \x1b[1m${text}\x1b[0m \033[1m${text}\033[0m`,
  "in a percent-encoded color": (text) => `%1B%5B31m${text}%1B%5B0m`,
  "in a half-encoded color": (text) => `%1b[01%3B31m${text}%1b[0m`,
  "percent-encoded quotes": (text) => `q=%22${text}%22&n=1`,
  "twice percent-encoded": (text) => `q=%2522${text}%2522`,
  "after a length": (text) => `${text.length}:${text},40${text}`,
  "after a hexadecimal length": (text) => `\r\n${text.length.toString(16)}${text}\r\n`,
  "after a length of one byte": (text) => `\n${String.fromCharCode(60 + (text.length % 60))}${text}\u0012`,
  "in JSON in JSON": (text) => JSON.stringify({ a: JSON.stringify({ b: text }) }),
  "in a cut JSON text": (text) => JSON.stringify({ a: `\n${text}\n` }).slice(0, -1),
  "in Markdown": (text) => `Here it is: **${text}** and \`${text}\`.`,
  "in a shell command": (text) => `curl -H '${text}' https://api.example.com && echo "${text}"`,
};

type Way = (text: string) => unknown;
const answering = (response: () => Response): typeof fetch => rewindFetch(async () => response());
/** How it gets into a recording. */
const WAYS: Record<string, Way> = {
  "a request": (text) => journalCall({ kind: "tool", name: "t", request: { deep: [{ text }] } }, () => 1),
  "a result": (text) => journalCall({ kind: "tool", name: "t", request: {} }, () => ({ lines: [text] })),
  "the name of a member": (text) => journalCall({ kind: "tool", name: "t", request: {} }, () => ({ [text]: 1 })),
  "an error": (text) =>
    journalCall({ kind: "tool", name: "t", request: {} }, () => {
      throw Object.assign(new Error(`failed: ${text}`), { details: { text }, cause: new Error(text) });
    }).catch(() => {}),
  "a frame": (text) => runFrame({ id: "a", input: { text } }, () => text),
  "a body of text": async (text) => (await answering(() => new Response(text))("https://api.test/")).text(),
  "a body of JSON": async (text) =>
    (await answering(() => Response.json({ choices: [{ message: { content: text } }] }))("https://api.test/")).json(),
  "an event stream": async (text) => {
    const body = `data: ${JSON.stringify({ type: "text", text })}\n\ndata: [DONE]\n\n`;
    return (await answering(() => new Response(body))("https://api.test/")).text();
  },
  "an error status": async (text) =>
    (await answering(() => new Response(text, { status: 400 }))("https://api.test/")).text(),
  "a body of a request": (text) =>
    answering(() => new Response("ok"))("https://api.test/", { method: "POST", body: text }),
};

it("finds every secret in every form and on every way", async () => {
  const leaks: string[] = [];
  let probes = 0;
  const ways = Object.entries(WAYS);
  for (const { name, text, secret } of all) {
    for (const [form, dress] of Object.entries(FORMS)) {
      const [way, send] = ways[probes % ways.length] as [string, Way];
      probes += 1;
      const events: TraceEvent[] = [];
      const dump = await runWith(
        async () => {
          await send(dress(text));
          return stringifySnapshot(dumpSnapshot());
        },
        { redact: true, enableSnapshot: true, eventBus: { emit: (event) => void events.push(event) } },
      );
      const written = dump + JSON.stringify(events.map(({ ...event }) => ({ ...event, output: undefined })));
      if (secret.some((part) => written.includes(part))) leaks.push(`${name}, ${form}, by ${way}`);
    }
  }
  console.log(`${probes} probes for leaks: ${leaks.length} leaks`);
  expect(leaks).toEqual([]);
  expect(probes).toBeGreaterThan(1_000);
});

const redactor = createRedactor({ key: "k" });

it.each([
  ['{"nextPageToken":"CAEQAAabc123DEF456ghi"}'],
  ["continuation_token=abcDEF0123456789abcDEF"],
  ["a token=abcDEF0123456789abcDEF of a grammar"],
  ["https://x.test/?pageToken=abcDEF0123456789abcDEF"],
  ["max_tokens=4096 and stop_token: END"],
  ["const dbPassword = config.databasePassword;"],
  ["password: required"],
  ["newPassword: String, oldPassword: String"],
  ['{"type":"object","properties":{"api_token":{"type":"string"},"user_password":{"type":"string","minLength":12}}}'],
  ["DATABASE_PASSWORD=${DB_PASSWORD}"],
  ["GITHUB_TOKEN=<your token>"],
  ["Cookie: see the documentation"],
  ["a[31m is no color, and neither is matrix[10]task-force-of-the-day"],
  ["public_key=ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG"],
  ["deadbeefsk-learn-based-classification-model-training"],
])("leaves what only looks like a secret: %s", (text) => {
  expect(redactor.text(text)).toBe(text);
  expect(redactor.json(JSON.stringify(text))).toBe(JSON.stringify(text));
});

it.each(Object.entries(NAMED))("keeps the name, and replaces only the value: %s", (_what, [text, secret]) => {
  const redacted = redactor.text(text);
  expect(redacted).not.toContain(secret);
  expect(redacted.startsWith(text.slice(0, 8))).toBe(true);
  expect(redactor.text(redacted)).toBe(redacted);
});
