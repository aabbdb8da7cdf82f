// Decides about a request: which runs it belongs to, and if it may be sent.

import { warn } from "../../errors/printable.js";
import { UnrecordedRequestError, type UnrecordedCall } from "../../errors/snapshot.js";
import { isTelemetry } from "../../urls/telemetry.js";
import { activeRuns } from "../scope/active-runs.js";
import { callSite } from "../scope/call-site.js";
import { storage, type RunContext } from "../scope/run-context.js";
import type { RunState } from "../scope/run-state.js";
import { isOwnServer } from "./own-servers.js";

/** The async context that code runs in; `undefined` outside of runs. */
export type Caller = RunContext | undefined;

export interface Outgoing {
  readonly method: string;
  readonly url: string;
  /** The path of a Unix domain socket that it goes to. */
  readonly socketPath?: string | undefined;
  /** True if its client could be given another `fetch`. */
  readonly isFetch?: boolean;
  /** Returns a request header by its name in lower case. */
  header(name: string): string | undefined;
}

/** False if no run is guarded: then nothing needs to be judged. */
export function isGuarding(): boolean {
  return activeRuns.guarded > 0;
}

/** The same for what is sent over HTTP/1. */
export function isGuardingHttp1(): boolean {
  return activeRuns.guarded > 0 && activeRuns.takesHttp1 !== true;
}

export function currentCaller(): Caller {
  return storage.getStore();
}

/** The guarded runs that what `caller` sends belongs to. */
export function runsOf(caller: Caller): readonly RunState[] {
  if (!isGuarding()) return [];
  // The requests of a journaled call are a part of its answer.
  if (caller?.isTransport === true || caller?.outerCall !== undefined) return [];
  if (caller === undefined) return withoutContext();
  const { run } = caller.scope;
  // Copies of older versions have no rules.
  const mode = run.network?.mode ?? "allow";
  if (mode === "allow") return [];
  // A connection or a queue that outlives its strict replay may serve the next one.
  // Later requests of a rejected test are refused, and do not count for the test after it.
  return run.hasEnded && !run.isRejected ? (mode === "refuse" ? withoutContext() : []) : [run];
}

/** A request whose context was lost may belong to any open run. It counts only if that makes no difference. */
function withoutContext(): readonly RunState[] {
  const runs = [...activeRuns.executing];
  return runs.every((run) => run.network.mode !== "allow" && run.ownsLostContexts()) ? runs : [];
}

/** @returns the error to fail the request with; `undefined` if it may be sent. */
export function judge(caller: Caller, request: Outgoing): UnrecordedRequestError | undefined {
  const runs = runsOf(caller);
  if (runs.length === 0) return undefined;
  const url = URL.canParse(request.url) ? new URL(request.url) : new URL("http://unknown.invalid/");
  if (runs.every((run) => run.network.allows(url)) || isOwnServer(url, request.socketPath)) return undefined;
  const refuses = runs.every(({ network }) => network.mode === "refuse");
  const call = { method: request.method, host: url.host, path: url.pathname, callSite: callSite() };
  if (isTelemetry({ url, method: request.method, header: (name) => request.header(name) }))
    return refuses ? new UnrecordedRequestError(call, "It is known telemetry, which a replay drops.") : undefined;
  const isFirst = list(runs, call);
  const remedy =
    (request.isFetch === true
      ? "Give its client `rewindFetch()` of agent-rewind/fetch"
      : "Give its client the `rewindFetch()` of agent-rewind/fetch if it accepts a fetch, or send it in `journalCall()`") +
    `. If it may be sent in a replay, add the option \`allowHosts: [${JSON.stringify(call.host)}]\`.`;
  const error = new UnrecordedRequestError(call, remedy);
  if (!refuses) {
    const { method, host, path } = call;
    warnOnce(
      host,
      `${method} ${host}${path} (sent by ${call.callSite}) is not recorded: a replay refuses it. ${remedy}`,
    );
    return undefined;
  }
  for (const run of withSessions(runs)) run.misses.refuse(error);
  // Clients hide the error, and wait before they try again.
  if (isFirst) console.error(`agent-rewind: UnrecordedRequestError: ${error.message}`);
  return error;
}

/**
 * Lists something that is not HTTP, such as a connection to a database. It is never refused.
 * @param remedy what to do, for a warning.
 */
export function report(caller: Caller, call: Omit<UnrecordedCall, "callSite">, remedy?: string): void {
  const runs = runsOf(caller);
  if (runs.length === 0) return;
  const { method, host } = call;
  const site = callSite();
  list(runs, { ...call, callSite: site });
  if (remedy !== undefined) warnOnce(host, `${method}, ${host} (sent by ${site}) is not recorded. ${remedy}`);
}

const MAX_LISTED = 100;

/** @returns true if it is the first one in one of the runs. */
function list(runs: readonly RunState[], call: UnrecordedCall): boolean {
  let isFirst = false;
  for (const {
    report: { unrecorded },
  } of withSessions(runs)) {
    if (unrecorded.length === 0) isFirst = true;
    const known = unrecorded.find(
      ({ method, host, path, callSite: from }) =>
        method === call.method && host === call.host && path === call.path && from === call.callSite,
    );
    if (known !== undefined) known.count += 1;
    else if (unrecorded.length < MAX_LISTED) unrecorded.push({ ...call, count: 1 });
  }
  return isFirst;
}

/** Runs, and the tests that they are parts of. */
function withSessions(runs: readonly RunState[]): ReadonlySet<RunState> {
  return new Set(runs.flatMap((run) => (run.session === undefined ? [run] : [run, run.session])));
}

const warned = new Set<string>();

function warnOnce(host: string, message: string): void {
  if (warned.has(host) || warned.size >= MAX_LISTED) return;
  warned.add(host);
  warn(message);
}
