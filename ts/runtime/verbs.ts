import type { AgentSnapshot } from "../types/snapshot.js";
import { runWith, type RunWithOptions } from "./run-with.js";

type WithSnapshot<Props> = Omit<RunWithOptions<Props>, "mode" | "snapshot"> & { snapshot: AgentSnapshot };

/**
 * Runs a function with every call answered from a snapshot, and none made: a call that the snapshot has no
 * answer for rejects with a ReplayMissError, and so does the whole, even if the agent catches it.
 * @throws ReplayMissError, and as `runWith` does.
 */
export function replay<Result, Props = unknown>(
  fn: (props: Props) => Promise<Result> | Result,
  options: Omit<WithSnapshot<Props>, "onMiss">,
): Promise<Result> {
  return runWith(fn, { ...options, mode: "replay" });
}

/**
 * Runs a function with what a snapshot holds answered from it, and the rest made and journaled.
 * @throws as `runWith` does.
 */
export function resume<Result, Props = unknown>(
  fn: (props: Props) => Promise<Result> | Result,
  options: WithSnapshot<Props>,
): Promise<Result> {
  return runWith(fn, { ...options, mode: "resume" });
}

/**
 * Runs a function with every call made.
 * @throws as `runWith` does.
 */
export function live<Result, Props = unknown>(
  fn: (props: Props) => Promise<Result> | Result,
  options: Omit<RunWithOptions<Props>, "mode" | "snapshot" | "onMiss" | "completedFrames" | "failures" | "memory"> = {},
): Promise<Result> {
  return runWith(fn, { ...options, mode: "live" });
}
