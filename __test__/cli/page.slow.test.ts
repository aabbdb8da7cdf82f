import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { cli } from "./support.js";

const page = readFileSync(fileURLToPath(new URL("../../docs/cli.md", import.meta.url)), "utf8");

it("docs/cli.md shows the help text of the command", () => {
  const [, help] = /^```text\n(.*?)^```$/ms.exec(page) as unknown as [string, string];
  expect(cli(["--help"]).out).toBe(help);
});

it("docs/cli.md names only commands that exist: each fails only because its file is missing", () => {
  const lines = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block]) =>
    (block as string).trimEnd().split("\n"),
  );
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    const args = line
      .replace(/\s+#.*$/, "")
      .split(/\s+/)
      .slice(1);
    const { code, err } = cli(args, { cwd: fileURLToPath(new URL(".", import.meta.url)), env: { AUDIT_KEY: "k" } });
    expect({ line, code }).toEqual({ line, code: 3 });
    expect(err).toMatch(/^agent-rewind: .*(?:ENOENT|does not exist)/);
  }
});
