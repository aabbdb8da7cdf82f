/**
 * The effect of a call outside of the program:
 * - `"none"`: nothing, like a search. It does not wait until a store has written the calls before it.
 * - `"repeatable"` (default): it may be executed again if the process is killed during the call.
 * - `"once"`: it must not happen twice, like a payment. If an earlier execution has started and its answer is not
 *   recorded, `verify` is asked, or the run fails with an UncertainEffectError.
 */
export type Effect = "none" | "repeatable" | "once";

export interface EffectOptions<Input = any, Output = unknown> {
  readonly effect?: Effect;
  /**
   * For `effect: "once"`: finds out if an earlier execution took effect. Returns its output, or `"not-done"`, which
   * executes the call. An error means that it is still unknown.
   */
  readonly verify?: (
    input: Input,
    context: { readonly idempotencyKey: string; readonly signal: AbortSignal },
  ) => Output | "not-done" | Promise<Output | "not-done">;
}
