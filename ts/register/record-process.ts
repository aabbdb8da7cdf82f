import diagnostics from "node:diagnostics_channel";
import { isMainThread } from "node:worker_threads";

import { printable } from "../errors/printable.js";
import { EVENTS } from "../events/names.js";
import { instrument } from "../instrument/index.js";
import { unknownModules } from "../instrument/modules.js";
import { openProcessRun, type ProcessRun } from "../integration/session/index.js";
import { createTraceWriter, type TraceWriter } from "../trace/writer.js";
import type { TraceEvent } from "../types/events.js";
import type { ReplayReport } from "../types/report.js";
import { hasMissed, noteMiss, processInfo, readRecordedRun } from "./recorded-run.js";
import type { Settings } from "./settings.js";

/**
 * Opens the run of this process and wraps its clients.
 * @throws SettingsError if the recording cannot be replayed.
 */
export async function recordProcess({
  mode,
  file,
  output,
  redact,
  allowHosts,
  ignore,
}: Settings & { readonly mode: "record" | "replay" | "resume" }): Promise<void> {
  const info = processInfo();
  const found = mode === "record" || file === undefined ? undefined : readRecordedRun(file, info);
  const path = mode === "replay" ? undefined : ((mode === "record" ? file : output) ?? defaultFile());
  const sink = path === undefined ? undefined : new LazyTrace(path);
  // Node.js processes and threads that this one starts append to the same file.
  if (path !== undefined) process.env[mode === "record" ? "AGENT_REWIND_FILE" : "AGENT_REWIND_OUTPUT"] = path;
  let isFirst = true;
  const onRefused = (error: Error): void => {
    noteMiss();
    // The network guard prints its own errors.
    if (error.name !== "ReplayMissError") return;
    say(`${error.name}: ${error.message}`);
    if (!isFirst) return;
    isFirst = false;
    if (found?.isOther === true && run.report.replayed === 0)
      say(`0 of ${found.snapshot.root.calls?.length ?? 0} requests of ${file} were sent: another program was recorded`);
    say(`To see the recorded calls: npx agent-rewind inspect ${file}`);
  };
  const redacts = found === undefined ? redact : found.snapshot.redact !== undefined;
  const run: ProcessRun = await openProcessRun(
    {
      mode: mode === "record" ? "live" : mode,
      ...(found === undefined ? {} : { snapshot: found.snapshot }),
      // The events are the recording. A replay needs the journal.
      enableSnapshot: found !== undefined,
      eventBus: sink ?? { emit: () => {} },
      redact: redacts,
      network: mode === "replay" ? "refuse" : "report",
      ...(allowHosts.length === 0 ? {} : { allowHosts }),
    },
    { ...info },
    onRefused,
  );
  watchChildren(run.report);
  const ignored = [...ignore, ...(mode === "replay" ? allowHosts : [])];
  instrument(ignored.length === 0 ? {} : { ignore: ignored });
  endWithProcess(run, () => {
    if (mode === "replay") reportReplay(run.report, file);
    else if (sink?.path !== undefined && isMainThread) say(`recorded ${sink.path}`);
    reportOutside(run.report);
  });
}

/** Ends the run while the process exits, before the trace writer writes what is left. */
function endWithProcess(run: ProcessRun, report: () => void): void {
  let failure: { readonly error: unknown } | undefined;
  process.on("uncaughtExceptionMonitor", (error) => (failure = { error }));
  process.prependListener("exit", (code) => {
    run.end(failure);
    report();
    if (code === 0 && hasMissed()) process.exitCode = 1;
  });
}

function reportReplay({ replayed, frames }: ReplayReport, file: string | undefined): void {
  const unused = frames.reduce((sum, frame) => sum + (frame.unused?.calls ?? 0), 0);
  if (unused > 0) say(`${unused} recorded calls of ${file} were not requested, ${replayed} were`);
}

/** Prints the requests and modules that the recording lacks. */
function reportOutside({ unrecorded }: ReplayReport): void {
  for (const { method, host, path, callSite, count } of unrecorded)
    say(`not recorded: ${method} ${host}${path} (${count} times, by ${callSite})`);
  for (const name of unknownModules) say(`not recorded: ${name}, because this version is not known`);
}

function watchChildren(report: ReplayReport): void {
  diagnostics.subscribe("child_process", (message) => {
    const { process: child } = message as { process: { readonly spawnargs?: readonly string[] } };
    // The arguments are set after the channel was notified. Later ones may be secrets.
    process.nextTick(() => {
      const host = child.spawnargs?.slice(0, 2).join(" ") ?? "a child process";
      const known = report.unrecorded.find((entry) => entry.method === "SPAWN" && entry.host === host);
      if (known !== undefined) known.count += 1;
      else report.unrecorded.push({ method: "SPAWN", host, path: "", callSite: "this program", count: 1 });
    });
  });
}

function defaultFile(): string {
  const start = new Date().toISOString().replace(/[:.]/g, "-");
  return `.agent-rewind/${start}-${process.pid}.jsonl`;
}

function say(text: string): void {
  process.stderr.write(`agent-rewind: ${printable(text)}\n`);
}

/** A trace file that is created by the first call, so that processes without calls leave none. */
class LazyTrace {
  readonly #file: string;
  #waiting: TraceEvent[] | undefined = [];
  #trace: TraceWriter | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** `undefined` if there is no file. */
  get path(): string | undefined {
    return this.#trace?.path;
  }

  emit(event: TraceEvent): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push(event);
      if (event.type !== EVENTS.CALL_START && event.type !== EVENTS.AGENT_START) return;
      // Without a sync, events wait for no other ones. They survive a kill of the process.
      this.#trace = createTraceWriter(this.#file, { sync: "off" });
      for (const waiting of this.#waiting) this.#trace.emit(waiting);
      this.#waiting = undefined;
    } else this.#trace?.emit(event);
  }
}
