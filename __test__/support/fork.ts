// Programs of journaled calls, their recordings, and forks of these.

import { journalCall, runWith, type AgentFrameSnapshot, type AgentSnapshot, type CallRecord } from "agent-rewind";
import {
  dumpSnapshot,
  forkSnapshot,
  isForkError,
  parseSnapshot,
  stringifySnapshot,
  type ForkChange,
  type ForkError,
} from "agent-rewind/debugger";
import { expect } from "vitest";

export type Step = <T = string>(name: string, make?: () => T | Promise<T>) => Promise<T>;
export type Program<T = unknown> = (step: Step) => Promise<T>;

/** Journaled calls, and the names of the live ones. */
export function steps(): { step: Step; liveCalls: string[] } {
  const liveCalls: string[] = [];
  const step: Step = (name, make) =>
    journalCall({ kind: "step", name, request: name }, () => {
      liveCalls.push(name);
      return make === undefined ? (`${name}!` as never) : make();
    });
  return { step, liveCalls };
}

/** The snapshot at the end of a program, which may fail. */
export function record(program: Program, options: Parameters<typeof runWith>[1] = {}): Promise<AgentSnapshot> {
  return runWith(async () => {
    await program(steps().step).catch(() => {});
    return dumpSnapshot();
  }, options);
}

type ReplayOptions = Omit<NonNullable<Parameters<typeof runWith>[1]>, "snapshot">;

export async function replayed<T>(
  program: Program<T>,
  snapshot: AgentSnapshot,
  options: ReplayOptions = {},
): Promise<{ result: T; liveCalls: string[] }> {
  const { step, liveCalls } = steps();
  return { result: await runWith(() => program(step), { ...options, snapshot }), liveCalls };
}

/** A fork, the fork parsed from JSON, and its plain JSON. Checks that the source has not changed. */
export function forks(source: AgentSnapshot, changes: ForkChange | ForkChange[]): AgentSnapshot[] {
  const before = stringifySnapshot(source);
  const fork = forkSnapshot(source, changes);
  expect(stringifySnapshot(source)).toBe(before);
  const text = stringifySnapshot(fork);
  return [fork, parseSnapshot(text), JSON.parse(text) as AgentSnapshot];
}

export function forkError(source: AgentSnapshot, changes: unknown): ForkError {
  try {
    forkSnapshot(source, changes as ForkChange);
  } catch (error) {
    if (!isForkError(error)) throw error;
    expect(error).toMatchObject({ name: "ForkError", code: "ERR_REWIND_FORK" });
    return error as ForkError;
  }
  expect.unreachable("nothing was thrown");
}

export function framesIn(frame: AgentFrameSnapshot): AgentFrameSnapshot[] {
  const generations = [...(frame.generations ?? []), frame];
  return [frame, ...generations.flatMap(({ children }) => Object.values(children).flatMap(framesIn))];
}

export function callsIn(frame: AgentFrameSnapshot): CallRecord[] {
  return framesIn(frame).flatMap((each) => [...(each.generations ?? []), each].flatMap(({ calls }) => calls ?? []));
}

export function frameOf(snapshot: AgentSnapshot, callId: string): AgentFrameSnapshot {
  const found = framesIn(snapshot.root).find((frame) => frame.callId === callId);
  if (found === undefined) throw new Error(`no frame ${callId}`);
  return found;
}

export const parsed = (snapshot: AgentSnapshot): AgentSnapshot =>
  JSON.parse(stringifySnapshot(snapshot)) as AgentSnapshot;
export const at = (name: string, occurrence = 0): string => `root/step:${name}:${occurrence}`;
export const abcd: Program<string[]> = async (step) => [
  await step("a"),
  await step("b"),
  await step("c"),
  await step("d"),
];

/** A promise with the function that resolves it. */
export function gate(): { passed: Promise<void>; open: () => void } {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}
