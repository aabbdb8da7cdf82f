import { checkOptionNames, type OptionNames } from "../../errors/option-names.js";
import type { ModelAdapter } from "../../types/model.js";
import { requireContext } from "../scope/run-context.js";
import { enterFrame } from "../frame/run-frame.js";
import { modelOf } from "./model-choice.js";
import type { RebornSignal } from "../frame/reborn.js";
import type { StreamConsumer } from "../scope/watcher.js";
import { streamWatchers } from "./stream.js";

/** A layer around an agent's handler. */
export interface AgentMiddleware {
  readonly name: string;
  readonly handler: (
    context: { readonly agentId: string; readonly props: unknown },
    next: () => Promise<unknown>,
  ) => Promise<unknown>;
  readonly config?: unknown;
}

export interface AgentConfig<Props, Result> {
  /** Name of the agent; part of the callId. */
  id: string;
  /**
   * The model, or its id in the run's registry. Default: the model of the run. An agent whose model id is not
   * registered fails with a ModelRegistryNotFoundError when it starts.
   */
  model?: string | ModelAdapter;
  /** Maximal number of retries if an answer does not fit the schema. Default: 3. */
  maxRetries?: number;
  /** Maximal number of turns of a prompt. Default: 10. */
  maxTurnSteps?: number;
  /** Maximal number of rebirths. Default: 100. */
  maxReborns?: number;
  /** The agent's code: equips the prompt, prompts, calls tools and other agents. */
  handler: (props: Props) => Promise<Result | RebornSignal> | Result | RebornSignal;
  middlewares?: readonly AgentMiddleware[];
  /** Receives the answers to the agent's prompts while they arrive; on replay, as recorded. */
  onStream?: StreamConsumer;
}

/** A call runs the agent: in a run or another agent as a sub-agent, elsewhere as a run of its own. */
export interface Agent<Props, Result> {
  (...args: undefined extends Props ? [props?: Props] : [props: Props]): Promise<Result>;
  readonly id: string;
  /** Creates an agent with a changed configuration. */
  fork(changes: Partial<AgentConfig<Props, Result>>): Agent<Props, Result>;
}

const CONFIG_NAMES: OptionNames<AgentConfig<unknown, unknown>> = {
  id: true,
  model: true,
  maxRetries: true,
  maxTurnSteps: true,
  maxReborns: true,
  handler: true,
  middlewares: true,
  onStream: true,
};

/**
 * Creates an agent: a function whose calls are frames that are recorded and replayed.
 *
 * @example
 * ```ts
 * import { createAgent, equipInstruction, promptAgent, runWith } from "agent-rewind";
 * import { createMockModel } from "agent-rewind/testing";
 * import { z } from "zod";
 *
 * const adviser = createAgent({
 *   id: "adviser",
 *   handler: async ({ city }: { city: string }) => {
 *     equipInstruction(`What should I wear in ${city} today?`);
 *     return promptAgent(z.object({ advice: z.string() }));
 *   },
 * });
 * const model = createMockModel({ rules: ['{"advice":"a coat"}'] });
 * console.log((await runWith(() => adviser({ city: "Oslo" }), { model })).advice);
 * ```
 */
export function createAgent<Props = undefined, Result = unknown>(
  config: AgentConfig<Props, Result>,
): Agent<Props, Result> {
  checkOptionNames("createAgent: config", config, CONFIG_NAMES);
  const settings = {
    model: config.model,
    maxRetries: limit(config, "maxRetries", 3),
    maxTurnSteps: limit(config, "maxTurnSteps", 10),
    maxReborns: limit(config, "maxReborns", 100),
    streamWatchers: streamWatchers(`createAgent("${config.id}")`, config.onStream),
  };
  if (typeof config.id !== "string" || config.id === "") {
    throw new TypeError("createAgent: config.id must be a non-empty string");
  }
  if (typeof config.handler !== "function")
    throw new TypeError(`createAgent("${config.id}"): config.handler must be a function`);
  const handler = withKnownModel(config, withMiddlewares(config));
  const call = (props?: Props): Promise<Result> =>
    enterFrame<Props, Result>({ id: config.id, props: props as Props, settings, handler });
  return Object.defineProperties(call, {
    id: { value: config.id, enumerable: true },
    fork: { value: (changes: Partial<AgentConfig<Props, Result>>) => createAgent({ ...config, ...changes }) },
  }) as unknown as Agent<Props, Result>;
}

function limit(config: { id: string }, name: "maxRetries" | "maxTurnSteps" | "maxReborns", fallback: number): number {
  const value: unknown = (config as Record<string, unknown>)[name] ?? fallback;
  if (typeof value !== "number" || Number.isNaN(value) || value < 0) {
    throw new RangeError(
      `createAgent("${config.id}"): config.${name} must be a number of at least 0, received ${String(value)}`,
    );
  }
  return value;
}

/** Fails for an unknown model when the agent starts, not after the work before its first prompt. */
function withKnownModel<Props, Result>(
  { model }: AgentConfig<Props, Result>,
  handler: AgentConfig<Props, Result>["handler"],
): AgentConfig<Props, Result>["handler"] {
  if (typeof model !== "string") return handler;
  return (props) => {
    modelOf(requireContext("createAgent").scope);
    return handler(props);
  };
}

function withMiddlewares<Props, Result>({
  id,
  handler,
  middlewares = [],
}: AgentConfig<Props, Result>): AgentConfig<Props, Result>["handler"] {
  if (middlewares.length === 0) return handler;
  return async (props) => {
    const enter = async (index: number): Promise<unknown> => {
      const layer = middlewares[index];
      return layer === undefined ? handler(props) : layer.handler({ agentId: id, props }, () => enter(index + 1));
    };
    return enter(0) as Promise<Result | RebornSignal>;
  };
}
