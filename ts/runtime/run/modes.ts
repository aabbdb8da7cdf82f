import type { AgentSnapshot } from "../../types/snapshot.js";
import type { RunWithOptions } from "./run-options.js";
import { runWith } from "./run-with.js";

type WithSnapshot<Props> = Omit<RunWithOptions<Props>, "mode" | "snapshot"> & { snapshot: AgentSnapshot };

/**
 * Runs a function with every call answered from a snapshot. No call is executed: a call without a recorded answer
 * fails with a ReplayMissError, and so does the run, even if the agent catches the error.
 * @throws ReplayMissError, and the errors of `runWith`.
 *
 * @example
 * ```ts
 * import { isReplayMissError, replay } from "agent-rewind";
 * import { readSnapshot } from "agent-rewind/debugger";
 *
 * export async function check(agent: () => Promise<string>): Promise<void> {
 *   const snapshot = await readSnapshot("run.json");
 *   try {
 *     console.log(await replay(agent, { snapshot }));
 *   } catch (error) {
 *     if (isReplayMissError(error)) console.log(error.explanation?.text);
 *     throw error;
 *   }
 * }
 * ```
 */
export function replay<Props, Result>(
  fn: (props: Props) => Promise<Result> | Result,
  options: Omit<WithSnapshot<Props>, "onMiss">,
): Promise<Result>;
export function replay<Result>(
  fn: () => Promise<Result> | Result,
  options: Omit<WithSnapshot<unknown>, "onMiss">,
): Promise<Result>;
export function replay<Props, Result>(
  fn: (props: Props) => Promise<Result> | Result,
  options: Omit<WithSnapshot<Props>, "onMiss">,
): Promise<Result> {
  return runWith<Props, Result>(fn, { ...options, mode: "replay" });
}

/**
 * Runs a function with its calls answered from a snapshot. Calls without a recorded answer are executed and journaled.
 * @throws the errors of `runWith`.
 *
 * @example
 * ```ts
 * import { resume } from "agent-rewind";
 * import { restoreSnapshotFromFile } from "agent-rewind/debugger";
 *
 * export async function resumeRun(agent: () => Promise<string>): Promise<string> {
 *   const snapshot = await restoreSnapshotFromFile("run.jsonl");
 *   return resume(agent, {
 *     snapshot,
 *     // Models may be called again, tools may not.
 *     onMiss: ({ kind }) => (kind === "tool" ? "error" : "live"),
 *     onReport: ({ replayed, live }) => console.log({ replayed, live }),
 *   });
 * }
 * ```
 */
export function resume<Props, Result>(
  fn: (props: Props) => Promise<Result> | Result,
  options: WithSnapshot<Props>,
): Promise<Result>;
export function resume<Result>(fn: () => Promise<Result> | Result, options: WithSnapshot<unknown>): Promise<Result>;
export function resume<Props, Result>(
  fn: (props: Props) => Promise<Result> | Result,
  options: WithSnapshot<Props>,
): Promise<Result> {
  return runWith<Props, Result>(fn, { ...options, mode: "resume" });
}

type WithoutSnapshot<Props> = Omit<
  RunWithOptions<Props>,
  "mode" | "snapshot" | "onMiss" | "completedFrames" | "failures" | "memory"
>;

/**
 * Runs a function with every call executed.
 * @throws the errors of `runWith`.
 */
export function live<Props, Result>(
  fn: (props: Props) => Promise<Result> | Result,
  options: WithoutSnapshot<Props>,
): Promise<Result>;
export function live<Result>(fn: () => Promise<Result> | Result, options?: WithoutSnapshot<unknown>): Promise<Result>;
export function live<Props, Result>(
  fn: (props: Props) => Promise<Result> | Result,
  options: WithoutSnapshot<Props> = {},
): Promise<Result> {
  return runWith<Props, Result>(fn, { ...options, mode: "live" });
}
