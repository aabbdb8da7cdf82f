import { expect } from "vitest";

import { isRecordingStaleError } from "../errors/index.js";
import { isError, RewindError } from "../errors/base.js";

type Color = (text: string) => string;

/** Colors of vitest, which only matchers are given. They follow its settings and those of the terminal. */
let colors: { removed: Color; added: Color; dim: Color } | undefined;

export function readColors(): void {
  const read = "agentRewindReadsColors";
  expect.extend({
    [read]() {
      const { EXPECTED_COLOR: removed, RECEIVED_COLOR: added, DIM_COLOR: dim } = this.utils;
      colors = { removed, added, dim };
      return { pass: true, message: () => "" };
    },
  });
  const { assertionCalls } = expect.getState();
  const assert = expect as unknown as (value: unknown) => Record<string, () => void>;
  assert(read)[read]?.();
  expect.setState({ assertionCalls });
}

/**
 * Makes an error of this package readable in vitest's output: the diff is printed as such, and the fields that the message
 * already names are not listed.
 */
export function presented(error: unknown): unknown {
  if (!(error instanceof RewindError) || !isError(error)) return error;
  const { name } = error;
  const stale = isRecordingStaleError(error) ? error : undefined;
  const message = stale?.summary ?? error.message;
  const stack = (error.stack ?? "").replace(error.message, () => message);
  const lines = stale?.lines ?? [];
  const shown = { name, message, stack, ...(lines.length === 0 ? {} : { diff: lines.map(colored).join("\n") }) };
  Object.defineProperties(error, {
    message: { value: message, configurable: true, writable: true },
    stack: { value: stack, configurable: true, writable: true },
    toJSON: { value: () => shown },
  });
  return error;
}

function colored(line: string): string {
  const color = { "-": colors?.removed, "+": colors?.added, "@": colors?.dim }[line.slice(0, 1)];
  return color === undefined ? line : color(line);
}
