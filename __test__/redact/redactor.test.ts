import { createRedactor, isRedactError } from "agent-rewind/redact";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { secrets, sensitiveParts } from "../support/secrets.js";
import { harmlessLines } from "./harmless.js";

const redactor = createRedactor();

/** The places of a request and its answer that can contain a secret. */
const PLACES: Record<string, (secret: string) => unknown> = {
  content: (secret) => ({ role: "user", content: `use ${secret} for it` }),
  "list part": (secret) => ({ role: "user", content: [{ type: "text", text: `first ${secret}\nthen` }] }),
  "tool arguments": (secret) => ({
    tool_calls: [{ id: "c", name: "t", arguments: JSON.stringify({ input: secret }) }],
  }),
  "tool result": (secret) => ({ role: "tool", content: JSON.stringify({ deep: [JSON.stringify({ found: secret })] }) }),
  name: (secret) => ({ [secret]: { name: secret } }),
  schema: (secret) => ({
    properties: { x: { type: "string", default: secret, enum: [secret], description: `e.g. ${secret}` } },
  }),
  url: (secret) => ({
    url: /^[a-z]+:\/\//.test(secret) ? secret : `https://example.com/callback?next=1&state=${secret}`,
  }),
  header: (secret) => ({ headers: { "x-note": secret, accept: "*/*" }, rawHeaders: ["x-note", secret] }),
};

describe("secrets", () => {
  it.each(secrets())("are removed from 8 places: $rule, $name", (secret) => {
    const seen = new Set<string>();
    for (const place of Object.values(PLACES)) {
      const value = place(secret.text);
      const text = redactor.json(JSON.stringify(value));
      for (const part of sensitiveParts(secret)) expect(text).not.toContain(part);
      expect(text).toContain(`[redacted:${secret.rule}`);
      expect(redactor.json(text)).toBe(text);
      expect(redactor.value(value)).toEqual(JSON.parse(text));
      for (const [placeholder] of text.matchAll(/\[redacted:[^\]]+\]/g)) seen.add(placeholder);
    }
    // The same secret has the same placeholder everywhere.
    expect([...seen]).toHaveLength(1);
  });

  it("are tested with at least 60 examples in 8 places each", () => {
    expect(secrets().length).toBeGreaterThanOrEqual(60);
    expect(new Set(secrets().map(({ text }) => text)).size).toBe(secrets().length);
    expect(Object.keys(PLACES)).toHaveLength(8);
  });

  it("are found in a stream wherever it is split", () => {
    const text = secrets()
      .map((secret) => `before ${secret.text} after`)
      .join("\n");
    const whole = redactor.text(text);
    for (const secret of secrets()) for (const part of sensitiveParts(secret)) expect(whole).not.toContain(part);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 50 }), (lengths) => {
        const stream = redactor.stream({ holdBack: 1024 });
        let out = "";
        for (let at = 0, turn = 0; at < text.length; turn += 1) {
          const length = lengths[turn % lengths.length] as number;
          out += stream.push(text.slice(at, at + length));
          at += length;
        }
        expect(out + stream.end()).toBe(whole);
      }),
      { numRuns: 30 },
    );
  });

  it("are not held back forever in a stream", () => {
    const stream = redactor.stream({ holdBack: 256 });
    let given = 0;
    for (let count = 1; count <= 1_000; count += 1) {
      given += stream.push("some words 😀 ").length;
      expect(count * 14 - given).toBeLessThan(400);
    }
    expect(() => redactor.stream({ holdBack: 10 })).toThrow(RangeError);
  });

  it("do not split surrogate pairs across chunks", () => {
    const stream = redactor.stream();
    expect(stream.push("a\ud83d") + stream.push("\ude00b") + stream.end()).toBe("a😀b");
  });
});

describe("text without secrets", () => {
  it("stays unchanged: 200 lines and more", () => {
    const lines = harmlessLines();
    expect(new Set(lines).size).toBeGreaterThanOrEqual(200);
    for (const line of lines) {
      expect(redactor.text(line)).toBe(line);
      const json = JSON.stringify({ content: line, list: [line], nested: JSON.stringify({ line }) });
      expect(redactor.json(json)).toBe(json);
      expect(redactor.findInText(line)).toEqual([]);
    }
    const whole = lines.join("\n");
    expect(redactor.text(whole)).toBe(whole);
  });

  it("stays unchanged byte by byte in JSON text", () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(redactor.json(json)).toBe(json);
      }),
    );
    const odd = '{ "a" : [ 1e2 , "\\ud83d" , {"__proto__": -0.0}, 12345678901234567890 ] }';
    expect(redactor.json(odd)).toBe(odd);
  });
});

describe("rules", () => {
  const card = ["4111", "1111", "1111", "1111"].join("");

  it("defined by the user are patterns and member names", () => {
    const own = createRedactor({
      key: "pepper",
      rules: [
        { id: "employee", pattern: /\bE-\d{5}\b/ },
        { id: "codename", pattern: "blue (?:moon|sky)" },
        { id: "password", keys: ["password", "pass_phrase"] },
      ],
    });
    const out = own.value({ note: "E-12345 of blue sky", password: ["a", 1], passPhrase: { old: "b" }, other: "c" });
    const digest = "[0-9a-f]{16}";
    expect(JSON.stringify(out)).toMatch(
      new RegExp(
        `^\\{"note":"\\[redacted:employee:${digest}\\] of \\[redacted:codename:${digest}\\]",` +
          `"password":\\["\\[redacted:password:${digest}\\]","\\[redacted:password:${digest}\\]"\\],` +
          `"passPhrase":\\{"old":"\\[redacted:password:${digest}\\]"\\},"other":"c"\\}$`,
      ),
    );
    expect(own.value(out)).toEqual(out);
  });

  it("are rejected with a reason if they cannot be used", () => {
    for (const pattern of [/(?<=a)b/, /(a)\1/, /a(?!b)/, /\p{L}/u, /é/i, /a/y]) {
      const error = thrown(() => createRedactor({ rules: [{ id: "x", pattern }] }));
      expect(isRedactError(error)).toBe(true);
      expect((error as Error).message).toMatch(/the rule "x" is not supported: .+linear time/);
    }
    expect(isRedactError(thrown(() => createRedactor({ rules: [{ id: "jwt", pattern: /a/ }] })))).toBe(true);
    expect(isRedactError(thrown(() => createRedactor({ rules: [{ id: "a b", pattern: /a/ }] })))).toBe(true);
    for (const options of [
      { rules: [{ id: "x" }] },
      { rules: [{ id: "x", pattern: 5 }] },
      { rules: [{ id: "x", keys: [""] }] },
      { rules: {} },
      { key: "" },
      { without: [1] },
    ]) {
      expect(() => createRedactor(options as never)).toThrow(TypeError);
    }
    expect(isRedactError(thrown(() => createRedactor({ without: ["nothing" as "jwt"] })))).toBe(true);
  });

  it("take linear time, whatever the pattern", () => {
    const own = createRedactor({ rules: [{ id: "x", pattern: /(a+)+$/ }] });
    const text = `${"a".repeat(20_000)}b`;
    expect(own.text(text)).toBe(text);
  });

  it("add a digest of guessable values only with a key", () => {
    expect(redactor.text(card)).toBe("[redacted:card-number]");
    const [one, other] = ["a", "b"].map((key) => createRedactor({ key }).text(card));
    expect(one).toMatch(/^\[redacted:card-number:[0-9a-f]{16}\]$/);
    expect(one).not.toBe(other);
  });

  it("can be excluded", () => {
    expect(createRedactor({ without: ["card-number"] }).text(card)).toBe(card);
  });

  it("replace a number by a string, also in JSON inside strings", () => {
    expect(redactor.json(`{"n":${card}}`)).toBe('{"n":"[redacted:card-number]"}');
    const nested = JSON.stringify({ a: `{"n":${card}}` });
    expect(JSON.parse((JSON.parse(redactor.json(nested)) as { a: string }).a)).toEqual({ n: "[redacted:card-number]" });
  });
});

describe("files", () => {
  const bytes = Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * 7919) % 251));

  it("in base64 are replaced by size and hash anywhere", () => {
    const base64 = bytes.toString("base64");
    const out = redactor.json(
      JSON.stringify([
        { type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } },
        { type: "image", source: { type: "base64", media_type: "image/png", data: base64 } },
        { role: "tool", content: JSON.stringify({ file: base64 }) },
      ]),
    );
    expect(out.match(/\[base64:3000:[0-9a-f]{64}\]/g)).toHaveLength(3);
    expect(out).toContain("data:image/png;base64,[base64:3000:");
    expect(out.length).toBeLessThan(600);
    expect(redactor.json(out)).toBe(out);
    expect(createRedactor({ without: ["base64"] }).text(base64)).toBe(base64);
  });

  it("given as bytes, and URLs and BigInts, become strings", () => {
    const out = redactor.value({
      bytes: new Uint8Array(bytes),
      url: new URL("https://a:hunter22@b/"),
      n: 5n,
      at: new Date(0),
    });
    expect(out).toEqual({
      bytes: expect.stringMatching(/^\[base64:3000:/),
      url: "https://a:[redacted:url-password]@b/",
      n: 5n,
      at: new Date(0),
    });
  });
});

describe("findings", () => {
  it("name the rule, the path and the span", () => {
    const key = ["gh", "p_aB3dE5gH7jK9mN1pQ2sT4vW6xZ8yC0fL1234"].join("");
    const json = JSON.stringify({
      "a/b": [0, { c: `é😀 ${key}!` }],
      [key]: 1,
      nested: JSON.stringify({ d: `\n${key}` }),
    });
    expect(redactor.findInJson(json)).toEqual([
      { rule: "github-key", pointer: "/a~1b/1/c", span: [4, 44] },
      { rule: "github-key", pointer: "", key: true, span: [0, 40] },
      { rule: "github-key", pointer: "/nested", span: [8, 48] },
    ]);
    expect(redactor.findInText(`x ${key}`)).toEqual([{ rule: "github-key", pointer: "", span: [2, 42] }]);
  });

  it("reject values that are not JSON with their path", () => {
    expect(() => redactor.json('{"a":')).toThrow(/at byte 5/);
    expect(() => redactor.value({ a: () => 1 })).toThrow(/at \/a cannot be redacted: function/);
  });
});

function thrown(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}
