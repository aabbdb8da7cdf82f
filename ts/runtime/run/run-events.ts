import type { OpenSnapshot } from "../../snapshot/open.js";
import type { AgentSnapshot } from "../../types/snapshot.js";
import { budgetOf } from "../usage/budget.js";
import { isProduction } from "../scope/environment.js";
import { encodedFields } from "../call/event-fields.js";
import type { RunWithOptions } from "./run-options.js";
import type { Rules } from "../scope/run-state.js";
import type { Scope } from "../scope/scope.js";

/** Fields of both events of a run. */
export function describe(
  options: RunWithOptions,
  recording: boolean,
  opened: OpenSnapshot | undefined,
  { normalizer, redaction }: Rules,
): object {
  return {
    config: { isProd: isProduction(), enableSnapshot: recording },
    ...(normalizer === undefined ? {} : { normalize: normalizer.recorded }),
    ...(redaction === undefined ? {} : { redact: redaction.recorded }),
    dependencies: {
      hasEventBus: options.eventBus !== undefined,
      hasGlobalModel: options.model !== undefined,
      registeredModels: Object.keys(options.modelRegistry ?? {}),
    },
    ...(options.initialProps === undefined ? {} : encodedFields("props", options.initialProps)),
    ...(opened === undefined
      ? {}
      : {
          restoration: {
            isRestored: true,
            sourceProcessId: opened.snapshot.processId,
            snapshotTimestamp: opened.snapshot.timestamp,
            snapshotVersion: opened.snapshot.version,
            provenance: opened.snapshot.provenance,
          },
        }),
  };
}

/** The metadata of the replayed snapshot, as attributes of the run's span. */
export function restorationAttributes(snapshot: Pick<AgentSnapshot, "metadata">): Record<string, unknown> | undefined {
  const entries = Object.entries(snapshot.metadata ?? {});
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries.map(([key, value]) => [`restoration.${key}`, value]));
}

export function metricsOf(scope: Scope): object {
  const { aggregate } = budgetOf(scope);
  return {
    totalPromptTokens: aggregate.promptTokens,
    totalCompletionTokens: aggregate.completionTokens,
    totalTokens: aggregate.totalTokens,
    costs: aggregate.costs,
  };
}
