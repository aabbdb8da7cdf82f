const figure = (name, title) => ({ name, title, module: new URL(`${name}.mjs`, import.meta.url) });

/** What is measured, in the order of the report. Each module's default export gives its rows. */
export const figures = [
  figure("load", "loading the package in a new process"),
  figure("hash", "contentHash of a fresh request"),
  figure("hash-turn", "contentHash of a turn of a growing conversation (2 messages of 2 KB are new)"),
  figure("dump", "dumpSnapshot, by the entries in the journal (2 KB each)"),
  figure("dump-memory", "memory of 100 dumps kept while the journal grows to 10,000 entries of 2 KB"),
  figure("checkpoint", "a checkpoint in memory at each step of a growing conversation (2 messages of 2 KB are new)"),
  figure("dump-write", "dumpSnapshot and writeSnapshot, entries of 2 KB"),
  figure("start", "runWith({ snapshot }), 10,000 entries of 2 KB"),
  figure("restore-jsonl", "restoreSnapshot from JSONL"),
  figure("restore-array", "restoreSnapshot from an array of events"),
  figure("replay", "replay of an agent, a model call and a tool call with 2 KB of output in each step"),
  figure("explain", "a request that differs in one place: the miss, and what differs by JSON pointer"),
  figure("record", "recording one call with 2 KB of output"),
  figure("events", "what a turn of a growing conversation tells: time and trace file"),
  figure("whole-stack", "an agent of 1,000 steps with 2 KB outputs: dumped every step, killed, resumed"),
  figure("capture", "a boundary captured, with its hashes and its ledger"),
  figure("fetch", "a streamed answer by rewindFetch, recorded, against the plain fetch"),
  figure("vitest", "a vitest run with one test of 1,000 replayed calls, against one with an empty test"),
];
