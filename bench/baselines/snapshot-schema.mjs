// The shape of a snapshot as a zod schema.

import { z } from "zod";

const Usage = z.looseObject({
  costs: z.record(z.string(), z.number()),
  totalTokens: z.number(),
  promptTokens: z.number(),
  completionTokens: z.number(),
  callCount: z.number(),
  items: z.array(z.looseObject({ type: z.enum(["model", "tool"]), name: z.string() })),
});

const Entry = z.looseObject({ output: z.unknown(), contentHash: z.string(), error: z.string().optional() });

const Entries = z.record(z.string(), Entry);

const Call = z.looseObject({
  kind: z.string(),
  callId: z.string(),
  contentHash: z.string(),
  startOrder: z.number(),
  endOrder: z.number().optional(),
});

const Frame = z.looseObject({
  callId: z.string(),
  agentId: z.string(),
  memory: z.record(z.string(), z.unknown()),
  journal: z.looseObject({ prompt: Entries, tool: Entries }),
  get children() {
    return z.record(z.string(), Frame);
  },
  state: z.looseObject({ status: z.enum(["running", "completed", "failed"]) }),
  budgetState: z.looseObject({ own: Usage, aggregate: Usage }),
  calls: z.array(Call).optional(),
});

export const Snapshot = z.looseObject({
  processId: z.string(),
  timestamp: z.number(),
  root: Frame,
  provenance: z.looseObject({ traceId: z.string() }),
  version: z.literal(1),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
