import { UncertainEffectError } from "../../errors/index.js";
import type { EffectOptions } from "../../types/effect.js";
import { decodeValue } from "../../values/decode.js";
import type { EarlierExecution } from "../scope/emitter.js";
import type { StartedCall } from "./started-call.js";

/** The reasons for a miss that mean that the call was executed before. */
const BEGUN: ReadonlySet<string> = new Set(["in-flight", "retry", "tombstone"]);

const EFFECTS: ReadonlySet<unknown> = new Set(["none", "repeatable", "once"]);

/** @throws TypeError */
export function checkEffect(owner: string, { effect, verify }: EffectOptions): void {
  if (effect !== undefined && !EFFECTS.has(effect)) {
    throw new TypeError(`${owner}.effect must be "none", "repeatable" or "once", received ${JSON.stringify(effect)}`);
  }
  if (verify !== undefined && effect !== "once") throw new TypeError(`${owner}.verify needs effect: "once"`);
}

/**
 * Prepares the execution of a call: the store writes what precedes it, and an effect must not happen twice.
 * Resolves to the output of an earlier execution. `undefined` if there is nothing to wait for.
 *
 * @throws UncertainEffectError, and errors of the store; later.
 */
export function beforeExecution(
  call: StartedCall,
  { effect = "repeatable", verify }: EffectOptions,
  input: unknown,
): Promise<{ readonly value: unknown } | undefined> | undefined {
  if (effect === "none") return undefined;
  const { kind, name, callId, scope } = call;
  const ahead = scope.run.outermost.emitter.beforeCall({
    kind,
    name,
    callId,
    effect,
    get idempotencyKey() {
      return call.idempotencyKey;
    },
  });
  const wasBegun = effect === "once" && BEGUN.has(call.answer);
  if (ahead === undefined && !wasBegun) return undefined;
  return settled(call, Promise.resolve(ahead ?? {}), effect === "once" ? verify : undefined, input).catch(
    (error: unknown) => {
      // The agent must not continue as if the call had failed.
      scope.run.misses.refuse(error as Error);
      throw error;
    },
  );
}

async function settled(
  call: StartedCall,
  ahead: Promise<EarlierExecution | undefined>,
  verify: EffectOptions["verify"],
  input: unknown,
): Promise<{ readonly value: unknown } | undefined> {
  const earlier = await ahead;
  if (earlier === undefined) return undefined;
  const { output, startedAt } = earlier;
  if (output !== undefined) return { value: decodeValue(output.text, output.types) };
  const { idempotencyKey } = call;
  const uncertain = { callId: call.callId, tool: call.name, input, idempotencyKey, startedAt };
  if (verify === undefined) throw new UncertainEffectError(uncertain);
  let found: unknown;
  try {
    found = await verify(input, { idempotencyKey, signal: call.scope.signal });
  } catch (cause) {
    throw new UncertainEffectError(uncertain, { cause });
  }
  return found === "not-done" ? undefined : { value: found };
}
