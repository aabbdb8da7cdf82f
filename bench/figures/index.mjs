const figure = (name, title) => ({ name, title, module: new URL(`${name}.mjs`, import.meta.url) });

/** The figures in the order of the report. The default export of each module returns its rows. */
export const figures = [
  figure("load", "loading the package in a new process"),
  figure("hash", "contentHash of a fresh request"),
  figure("hash-turn", "contentHash of a turn of a growing conversation (2 new messages of 2 KB)"),
  figure("dump", "dumpSnapshot, by the number of journal entries (2 KB each)"),
  figure("dump-memory", "memory of 100 dumps, taken while the journal grows to 10,000 entries of 2 KB"),
  figure("checkpoint", "a checkpoint in memory at each step of a growing conversation (2 new messages of 2 KB)"),
  figure("size", "bytes per byte of a growing conversation (2 messages of 1 KB a turn)"),
  figure("dump-write", "dumpSnapshot and writeSnapshot, entries of 2 KB"),
  figure("start", "runWith({ snapshot }), 10,000 entries of 2 KB"),
  figure("restore-jsonl", "restoreSnapshot from JSONL"),
  figure("restore-array", "restoreSnapshot from an array of events"),
  figure("replay", "replay of an agent: each step has a model call and a tool call with 2 KB of output"),
  figure("explain", "explaining a miss: a request that differs in one place"),
  figure("record", "recording one call with 2 KB of output"),
  figure("call-cost", "recording one call, and awaits: in addition to another build of the package"),
  figure("events", "events of a turn of a growing conversation: time and trace file"),
  figure("whole-stack", "an agent of 1,000 steps with 2 KB outputs: dumped every step, killed, resumed"),
  figure("capture", "capturing a boundary, with its hashes and its ledger"),
  figure("fetch", "a streamed answer recorded by rewindFetch, compared with the plain fetch"),
  figure("guard", "a request that the network guard lets pass in a guarded run, compared with one before it"),
  figure("vitest", "a vitest run with one test of 1,000 replayed calls, compared with an empty test"),
];
