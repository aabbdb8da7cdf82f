import { replay, runWith, type ReplayReport, type RunEnd, type RunWithOptions, type TraceEvent } from "agent-rewind";
import { dumpSnapshot, restoreSnapshot, type AgentSnapshot } from "agent-rewind/debugger";

/** A run whose function returns a stream, and what was seen of it. */
export interface OpenRun<T> {
  readonly value: T;
  readonly events: TraceEvent[];
  /** Filled at the end of the run. */
  readonly ends: RunEnd[];
  readonly reports: ReplayReport[];
  /** The dump at the end of the run. */
  dump(): AgentSnapshot;
  restored(): AgentSnapshot;
}

export async function openRun<T>(start: () => T | Promise<T>, options: RunWithOptions = {}): Promise<OpenRun<T>> {
  const events: TraceEvent[] = [];
  const ends: RunEnd[] = [];
  const reports: ReplayReport[] = [];
  let dump: AgentSnapshot | undefined;
  const value = await runWith<T>(start, {
    ...options,
    eventBus: { emit: (event) => void events.push(JSON.parse(JSON.stringify(event)) as TraceEvent) },
    onReport: (report) => void reports.push(report),
    onEnd(end) {
      ends.push(end);
      dump = dumpSnapshot();
    },
  });
  return {
    value,
    events,
    ends,
    reports,
    dump: () => dump as AgentSnapshot,
    restored: () => restoreSnapshot(events),
  };
}

/** Replays a run from its dump and from its trace, reads what it returns, and gives the results. */
export async function replays<T, R>(
  run: OpenRun<T>,
  start: () => T | Promise<T>,
  read: (value: T) => Promise<R>,
): Promise<{ read: R; again: OpenRun<T> }[]> {
  const seen = [];
  for (const snapshot of [run.dump(), run.restored()]) {
    const again = await openRun(start, { snapshot, mode: "replay" });
    seen.push({ read: await read(again.value), again });
  }
  return seen;
}

/** Reads the value inside of a strict replay, instead of after it. */
export const readInside = <T, R>(
  snapshot: AgentSnapshot,
  start: () => T | Promise<T>,
  read: (value: T) => Promise<R>,
): Promise<R> => replay(async () => read(await start()), { snapshot });
