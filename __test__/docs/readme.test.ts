// The program that the README starts with runs as it stands, and makes the calls that the text says.
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it, onTestFinished } from "vitest";

import { temporaryFolder } from "../support/process.js";

it("the first program of the README replays two calls and makes one", () => {
  const text = readFileSync(join(import.meta.dirname, "../../README.md"), "utf8");
  const [, code = ""] = /^```js\n([\s\S]*?)^```$/m.exec(text) ?? [];
  const folder = temporaryFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "try.mjs");
  writeFileSync(file, code);
  const { NODE_ENV: _, ...env } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8", env });
  expect(stderr).toBe("");

  const [first, second] = stdout
    .trimEnd()
    .split(/(?<=calls made)\n/)
    .map((run) => ({ answers: run.match(/answer [\d.e-]+/g) ?? [], made: /(\d+) calls made/.exec(run)?.[1] }));
  expect(first).toMatchObject({ made: "3" });
  expect(second).toMatchObject({ made: "4" });
  expect(second?.answers.slice(0, 2)).toEqual(first?.answers.slice(0, 2));
  expect(second?.answers[2]).not.toBe(first?.answers[2]);
});
