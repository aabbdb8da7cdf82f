// What is done with the recordings of a program: each operation starts the program again and judges what it sees.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isRestoreError } from "agent-rewind";
import {
  createTraceWriter,
  forkSnapshot,
  parseSnapshot,
  readSnapshot,
  restoreSnapshot,
  restoreSnapshotFromFile,
  stringifySnapshot,
  writeSnapshot,
} from "agent-rewind/debugger";

import { changed } from "./change.mjs";
import { compiled, execute } from "./execute.mjs";
import {
  answeredAfter,
  cannotBeKept,
  enclosing,
  judge,
  knownOf,
  leftLife,
  orderedByTimers,
  readLog,
} from "./judge.mjs";
import { exchanged, startsOf } from "./order.mjs";

/** @typedef {{ operation: string, faults: import("./judge.mjs").Fault[] }} Outcome */

/** Runs all operations on a program. */
export class Operations {
  /** @type {Outcome[]} */
  outcomes = [];
  /** True if a handled failure was executed again, because nothing in the recording shows that it was handled. */
  repeats = false;
  #label = 0;

  /**
   * @param {import("./execute.mjs").Subject} subject
   * @param {import("../lib/random.mjs").Random} random
   * @param {string | undefined} only the operation to run alone
   */
  constructor(subject, random, only) {
    this.subject = subject;
    this.random = random;
    this.only = only;
    /** Failures that succeed when tried again lead to other places. */
    const text = JSON.stringify(subject.program);
    /** Calls that are executed again have other values, which later requests contain. */
    this.timed = orderedByTimers(text);
    this.loses = /"gives":"instance"|"with":\["(callback|secret)"/.test(text);
    this.flips = text.includes('"fail":"once"');
  }

  async all() {
    const first = await execute(this.subject, "live", {}, { dumps: true });
    this.first = first;
    const broken = [
      ...(first.end.hangs ? [{ kind: "missing", path: "", seen: "the first run never ends", right: "an end" }] : []),
      ...first.unhandled.map((seen) => ({ kind: "unhandled", path: "", seen, right: "no unhandledRejection" })),
    ];
    if (first.dumps.length === 0) return undefined;
    if (broken.length > 0) return void this.outcomes.push({ operation: "live", faults: broken });
    const { last: dump, endAt: end } = first;
    const trace = await this.#tryRestore("restore", () => restoreSnapshot(first.events));
    await this.#strict("strict replay of a dump", dump);
    if (trace) await this.#strict("strict replay of a trace", trace);
    await this.#resume("resume from the last dump", dump, knownOf(first, end));
    if (trace) await this.#resume("resume from the whole trace", trace, knownOf(first, end));
    for (const { snapshot, at } of this.#some(first.dumps, 3)) {
      await this.#resume(`resume from the dump after ${at} entries`, snapshot, knownOf(first, at));
    }
    for (const cut of this.#some(first.events.map((_, index) => index).slice(2), 3)) await this.#killed(cut);
    for (const anchor of ["before", "after", this.random.pick(["before", "after"])]) await this.#span(anchor);
    await this.#reuse("reuse of the last dump", dump, end);
    const { snapshot, at } = this.random.pick(first.dumps);
    await this.#reuse(`reuse of the dump after ${at} entries`, snapshot, at);
    await this.#change(dump);
    await this.#edit("output");
    await this.#edit("drop");
    await this.#chain("dump");
    await this.#chain("trace");
  }

  #some(list, count) {
    return Array.from({ length: Math.min(count, list.length) }, () => this.random.pick(list));
  }

  async #again(options, keep) {
    return execute(this.subject, `run${(this.#label += 1)}`, options, keep);
  }

  /** How to judge a run from a recording in which this is known, or from one of a resumed run. */
  #how(known) {
    const partial = known.size < knownOf(this.first, this.first.endAt).size;
    const edited = this.loses || (partial && this.timed);
    return { whole: this.flips ? undefined : this.first, requests: this.#requests, edited, partial };
  }

  get #requests() {
    return readLog(this.first.log).requests;
  }

  #skip(operation) {
    return this.only !== undefined && this.only !== operation;
  }

  #judge(run, known, how) {
    const faults = judge(this.subject, run, known, how);
    if (run.repeated.size > 0) this.repeats = true;
    return faults;
  }

  #add(operation, faults) {
    this.outcomes.push({ operation, faults });
  }

  async #strict(operation, snapshot) {
    // Calls that were in flight at the end, or cannot be kept, are misses.
    if (this.#skip(operation) || this.subject.program.abrupt || this.loses) return;
    const run = await this.#again({ snapshot, mode: "replay" });
    const known = knownOf(this.first, this.first.endAt);
    this.#add(operation, this.#judge(run, known, { strict: true, requests: this.#requests, whole: this.first }));
  }

  async #resume(operation, snapshot, known) {
    if (this.#skip(operation)) return;
    const run = await this.#again({ snapshot });
    this.#add(operation, this.#judge(run, known, this.#how(known)));
  }

  async #tryRestore(operation, restore, known = new Map([["", {}]])) {
    try {
      return await restore();
    } catch (error) {
      // Nothing was there yet: documented.
      if (!isRestoreError(error) || known.size > 0)
        this.#add(operation, [{ kind: "missing", path: "", seen: String(error), right: "a snapshot" }]);
      return undefined;
    }
  }

  async #killed(cut) {
    const operation = `resume from the trace killed after ${cut} events`;
    if (this.#skip(operation)) return;
    const known = knownOf(this.first, this.first.eventsAt[cut]);
    const snapshot = await this.#tryRestore(operation, () => restoreSnapshot(this.first.events.slice(0, cut)), known);
    if (snapshot) await this.#resume(operation, snapshot, known);
  }

  async #span(anchor) {
    const { events, eventsAt } = this.first;
    const suffix = anchor === "before" ? ":start" : ":end";
    const kind = this.random.pick([...new Set(events.map(({ type }) => type).filter((type) => type.endsWith(suffix)))]);
    const index = this.random.pick(events.flatMap(({ type }, at) => (type === kind ? [at] : [])));
    const operation = `restore ${anchor} ${kind} number ${index}`;
    if (this.#skip(operation)) return;
    const { spanId } = events[index].trace;
    // What the program saw before the next event had ended before it.
    const known = knownOf(
      this.first,
      (anchor === "before" ? eventsAt[index] : eventsAt[index + 1]) ?? this.first.endAt,
    );
    const snapshot = await this.#tryRestore(operation, () => restoreSnapshot(events, { spanId, anchor }), known);
    if (snapshot) await this.#resume(operation, snapshot, known);
  }

  async #reuse(operation, snapshot, at) {
    if (this.#skip(operation)) return;
    const run = await this.#again({ snapshot, completedFrames: "reuse" });
    const known = knownOf(this.first, at);
    this.#add(operation, this.#judge(run, known, { ...this.#how(known), reuse: true }));
  }

  /** The program has changed: what it asks for the first time has no answer. */
  async #change(snapshot) {
    const operation = "resume of a changed program";
    const program = changed(this.subject.program, this.random);
    if (program === undefined || this.#skip(operation)) return;
    const run = await execute({ ...this.subject, ...compiled(program) }, `run${(this.#label += 1)}`, { snapshot });
    const known = knownOf(this.first, this.first.endAt);
    this.#add(operation, this.#judge(run, known, { requests: this.#requests, edited: true, partial: true }));
  }

  /** Another output for a call, or a call dropped. */
  async #edit(how) {
    const { log } = this.first;
    const { requests, visited } = readLog(log);
    const recorded = knownOf(this.first, this.first.endAt);
    const kept = (path) => !cannotBeKept({ request: requests.get(path), text: "" });
    const calls = log.flatMap(({ kind, path, text }) =>
      kind === "called" && recorded.get(path)?.ok && kept(path) && !leftLife(visited, path) ? [{ path, at: text }] : [],
    );
    if (calls.length === 0) return;
    const { path, at } = this.random.pick(calls);
    const operation = `fork: ${how} at ${path}`;
    if (this.#skip(operation)) return;
    const edited = "edited";
    const snapshot = await this.#tryRestore(operation, () =>
      forkSnapshot(this.first.last, how === "drop" ? { at, drop: true } : { at, output: edited }),
    );
    if (snapshot === undefined) return;
    const known = how === "drop" ? this.#before(path) : this.#unlike(path, edited);
    this.subject.edits = new Set([edited]);
    const run = await this.#again({ snapshot });
    this.subject.edits = undefined;
    const faults = this.#judge(run, known, { requests, edited: true, partial: true });
    const seen = readLog(run.log);
    const isSame = (site) => seen.requests.get(site) === requests.get(site);
    // A call with another request is another call, and so is what it asks.
    const same = isSame(path) && enclosing(path).every(({ site, mark }) => mark === "@" || isSame(site));
    const others = exchanged(known.starts, startsOf(run.log));
    if (others.has(path)) {
      this.#add(operation, faults);
      return;
    }
    if (how === "output" && same && seen.outcomes.has(path) && seen.outcomes.get(path).text !== edited)
      faults.push({ kind: "wrong", path, seen: seen.outcomes.get(path).text, right: edited });
    if (how === "drop" && seen.requests.has(path) && !seen.asks.has(path))
      faults.push({ kind: "wrong", path, seen: "the dropped call is answered", right: "it is asked" });
    if (how === "drop")
      faults.push(...answeredAfter(this.first.log, path, seen).filter((one) => !others.has(one.path)));
    this.#add(operation, faults);
  }

  /** What is known if a call and all that began after its end are gone. */
  #before(path) {
    const { log, answeredAt } = this.first;
    const end = log.findIndex((one) => one.kind === "saw" && one.path === path);
    const places = (entries, ...kinds) =>
      new Set(entries.filter(({ kind }) => kinds.includes(kind)).map((one) => one.path));
    // The call ended between the answer of the outside and the moment at which the program saw it.
    const begun = places(log.slice(0, answeredAt.get(path)), "called", "ask");
    const later = places(log.slice(end), "ask");
    const known = knownOf(this.first, this.first.endAt);
    for (const place of known.keys()) {
      const inside = place === path || place.startsWith(`${path}>`);
      if (inside || !begun.has(place) || later.has(place) || !known.get(place).ok) known.delete(place);
    }
    return known;
  }

  /** What is known if the value of a call is another. The calls around it are executed again, to see it. */
  #unlike(path, text) {
    const known = knownOf(this.first, this.first.endAt);
    known.set(path, { ...known.get(path), text });
    for (const { site, mark } of enclosing(path)) {
      known.delete(site);
      // The tools of an agent, whose results are in its next prompts.
      if (mark === "!")
        for (const place of known.keys()) if (place.startsWith(`${site}!`) && place !== path) known.delete(place);
    }
    return known;
  }

  /** Killed and resumed, again and again, until the program ends. */
  async #chain(how) {
    const operation = `chain of resumes by ${how}`;
    if (this.#skip(operation)) return;
    const folder = mkdtempSync(join(tmpdir(), "independent-"));
    try {
      let executed = this.first;
      let known = new Map();
      for (let link = 0; link < 3; link++) {
        const recording =
          how === "dump" ? this.#killedDump(executed, known) : await this.#killedTrace(executed, folder);
        if (recording === undefined) return;
        const snapshot = await this.#tryRestore(
          operation,
          () => recording.open(join(folder, "snapshot.json")),
          recording.known,
        );
        if (snapshot === undefined) return;
        known = recording.known;
        const writer = how === "trace" ? createTraceWriter(join(folder, `${link}.jsonl`), { sync: "off" }) : undefined;
        executed = await this.#again({ snapshot }, { dumps: true, bus: writer });
        executed.file = join(folder, `${link}.jsonl`);
        await writer?.close();
        const faults = this.#judge(executed, known, this.#how(new Map()));
        this.#add(operation, faults);
        if (faults.length > 0) return;
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  #killedDump(executed, earlier) {
    if (executed.dumps.length === 0) return undefined;
    const { snapshot, at } = this.random.pick(executed.dumps);
    const way = this.random.pick(["object", "text", "file"]);
    return {
      known: knownOf(executed, at, earlier),
      open: async (file) => {
        if (way === "object") return snapshot;
        if (way === "text") return parseSnapshot(stringifySnapshot(snapshot));
        await writeSnapshot(file, snapshot);
        return readSnapshot(file);
      },
    };
  }

  async #killedTrace(executed) {
    const { events, eventsAt, file } = executed;
    if (events.length < 4) return undefined;
    const cut = this.random.between(3, events.length - 1);
    if (file !== undefined && this.random.chance(0.4))
      return { known: knownOf(executed, executed.endAt), open: () => restoreSnapshotFromFile(file) };
    return { known: knownOf(executed, eventsAt[cut]), open: () => restoreSnapshot(events.slice(0, cut)) };
  }
}
