// Judges a run that started from a recording, by what the program saw and what reached the outside. Nothing here looks
// into a snapshot or an event.

import { exchanged, startsOf } from "./order.mjs";

/**
 * What the program had seen of one call when the recording was made.
 *
 * @typedef {object} Known
 * @property {boolean} ok
 * @property {string} text the value or the failure
 * @property {string | undefined} request
 * @property {boolean} handled the program certainly went on after this failure
 * @property {boolean} fatal this failure ended the run
 *
 * @typedef {{ kind: "wrong" | "extra" | "missing" | "unhandled", path: string, seen: string, right: string }} Fault
 */

/** What a place asked. The prompts of an agent ask what the agent was asked. */
function requestAt(requests, path) {
  return requests.get(path) ?? requests.get(path.split("!", 1)[0]);
}

/** A call that cannot be answered: its request or its result cannot be kept. The program tells that itself. */
export function cannotBeKept(one) {
  return /"with":\["(callback|secret)"/.test(one.request) || /with: Human \{/.test(one.text);
}

/** True if the recording answers a call of which this is known. */
function isAnswered(one) {
  if (one === undefined || cannotBeKept(one)) return false;
  return one.ok || (one.handled && !one.fatal && one.text !== "AbortError");
}

/**
 * Equal requests in branches that the program's own timers order. A recording tells them apart if it contains all of
 * them; races with timers are not reproduced otherwise.
 */
export const orderedByTimers = (request) => request?.includes('"lane ');

/** Places inside another run, which is not part of the recording. */
const outside = (path) => path.includes("%");

/**
 * What the program had seen in the first `cut` entries of its log.
 *
 * @param {import("./execute.mjs").Executed} executed
 * @param {number} cut
 * @param {Map<string, Known>} [earlier] what the recording contained that this run started from, if it keeps that
 * @returns {Map<string, Known> & { starts: import("./order.mjs").Starts }}
 */
export function knownOf({ log, end, endAt }, cut, earlier = new Map()) {
  const known = new Map(earlier);
  known.starts = startsOf(log.slice(0, cut), earlier.starts);
  const requests = new Map();
  const catches = [];
  const ended = new Set();
  for (const { kind, path, text, origins } of log.slice(0, cut)) {
    if (kind === "completed" || kind === "rejected") ended.add(path);
    if (kind === "start") {
      requests.set(path, text);
      if (known.get(path)?.request !== text) known.delete(path);
    } else if ((kind === "saw" || kind === "failed") && isAbandoned(path, ended)) {
      // Work of a frame after its abort is not recorded.
      known.delete(path);
    } else if ((kind === "saw" || kind === "failed") && !outside(path)) {
      const handled = known.get(path)?.handled ?? false;
      known.set(path, { ok: kind === "saw", text, request: requestAt(requests, path), handled, fatal: false });
    } else if (kind === "caught") catches.push({ site: path, origins });
    else if (kind === "completed") {
      for (const [inside, one] of known)
        if (inside.startsWith(`${path}@`) || inside.startsWith(`${path}!`)) one.handled = true;
    }
    // Executed again: what was known of it before is gone.
    if (kind === "ask") known.delete(path);
    if (kind === "ask" || kind === "saw") {
      for (const { site, origins: failed } of catches) {
        if (follows(path, site)) for (const origin of failed) if (known.has(origin)) known.get(origin).handled = true;
      }
    }
  }
  if (cut >= endAt) for (const origin of end.origins ?? []) if (known.has(origin)) known.get(origin).fatal = true;
  return known;
}

/** True if the thread that caught something at `site` comes to `path` after that. */
function follows(path, site) {
  const [to, from] = [path, site].map((text) => [...text.matchAll(/([.#|^&@>%!:])(\d*)([tcb]?)/g)]);
  const at = from.findIndex(([text], index) => to[index]?.[0] !== text);
  if (at === -1 || to[at] === undefined) return false;
  const [[, fork, next, part], [, other, caught]] = [to[at], from[at]];
  if (next === caught) return at === from.length - 1 && part === "c";
  const sequential = (list) => list.every(([, mark]) => mark === "." || mark === "#");
  return fork === other && Number(next) > Number(caught) && sequential(from.slice(at));
}

/** The outcomes, requests and visits of a run by place. */
export function readLog(log) {
  const outcomes = new Map();
  const requests = new Map();
  const asks = new Map();
  const visited = new Set();
  for (const { kind, path, text, attempt } of log) {
    visited.add(path);
    if (kind === "start") requests.set(path, text);
    if (kind === "ask") asks.set(path, { count: (asks.get(path)?.count ?? 0) + 1, tries: attempt !== undefined });
    if (kind === "saw" || kind === "failed") outcomes.set(path, { ok: kind === "saw", text });
  }
  return { outcomes, requests, asks, visited };
}

/**
 * @param {import("./execute.mjs").Subject} subject
 * @param {import("./execute.mjs").Executed} run
 * @param {Map<string, Known>} known what the recording contains
 * @param {object} how
 * @param {boolean} [how.strict]
 * @param {Map<string, string>} how.requests the recorded ones
 * @param {boolean} [how.edited] answers may differ from the recorded run, and so may the requests that contain them
 * @param {boolean} [how.partial] the recording is a part of a run
 * @param {boolean} [how.reuse] the insides of frames are not executed
 * @param {import("./execute.mjs").Executed} [how.whole] a whole run that this one must agree with, place by place
 * @returns {Fault[]}
 */
export function judge(subject, run, known, how) {
  const { strict = false, requests: recorded, reuse = false, partial = false, whole } = how;
  /** @type {Fault[]} */
  const faults = [];
  const fault = (kind, path, seen, right) => faults.push({ kind, path, seen, right });
  const { outcomes, requests, asks, visited } = readLog(run.log);
  const unproven = strict ? new Set() : run.unproven;
  // Calls that are executed again take their time.
  const isTimed = !strict && (partial || how.edited === true || unproven.size > 0);
  const others = isTimed ? exchanged(known.starts, startsOf(run.log)) : new Map();
  const edited = how.edited === true || unproven.size > 0 || others.size > 0;
  // What a call asked belongs to that call. One with another request is another call.
  const isOther = ({ site, mark }) => mark !== "@" && recorded.get(site) !== requests.get(site);
  const knownAt = (path) => (edited && enclosing(path).some(isOther) ? undefined : known.get(path));
  const ended = new Set(run.log.flatMap(({ kind, path }) => (/^completed|^rejected/.test(kind) ? [path] : [])));
  for (const text of run.unhandled) fault("unhandled", "", text, "no unhandledRejection");
  if (run.end.hangs) fault("missing", "", "the run never ends", "an end");
  else if (run.end.error !== undefined && run.end.origins.length === 0)
    fault("missing", "", `the run ends with ${run.end.error}`, "an end that the program made");

  for (const [path, { count, tries }] of asks) {
    if (partial && orderedByTimers(requests.get(path))) continue;
    const one = knownAt(path);
    const same = one !== undefined && one.request === requestAt(requests, path) && !cannotBeKept(one);
    if (strict) fault("extra", path, "asked in a strict replay", "nothing is asked");
    else if (others.has(path) && !isAnswered(known.get(others.get(path)))) continue;
    else if (same && one.handled && !one.ok && unproven.has(path)) run.repeated.add(path);
    else if (same && isAnswered(one))
      fault(
        "extra",
        path,
        `asked again (${asks.get(path).count} ×)`,
        `${one.ok ? "answered" : "handled"}: ${one.text}`,
      );
    else if (count > 1 && !tries) fault("extra", path, `asked ${count} × in one run`, "once");
  }
  for (const [path, { text }] of outcomes) {
    if (/![\d:]+$/.test(path)) continue;
    const one = knownAt(path);
    const asked = asks.has(path) || [...asks.keys()].some((other) => other.startsWith(`${path}!`));
    const request = requestAt(requests, path);
    if (partial && orderedByTimers(request)) continue;
    const given = subject.given.get(path);
    const stopped =
      text === "AbortError" && (request.includes('"slow ') || framesAbove(path).some((site) => ended.has(site)));
    if (others.has(path) && !asked && known.get(others.get(path))?.text === text) continue;
    if (one !== undefined && one.request !== request && !edited)
      fault("wrong", path, `asks ${request}`, `asks ${one.request}`);
    else if (one !== undefined && one.request === request && !asked) {
      if (cannotBeKept(one)) fault("wrong", path, `${text} is answered`, "asked again, because it cannot be kept");
      else if (one.fatal && !strict)
        fault("wrong", path, `${text} is replayed`, "the failure that ended the run is tried again");
      else if (text !== one.text) fault(missed(text) ? "missing" : "wrong", path, text, one.text);
    } else if (one !== undefined && one.request !== request && !asked) {
      fault("wrong", path, `${request} is answered: ${text}`, `the recording has only ${one.request}`);
    } else if (!given?.has(text) && !stopped && !subject.edits?.has(text)) {
      const from = [...subject.given].find(([, texts]) => texts.has(text))?.[0];
      const right = given === undefined ? "an answer of its own" : [...given].join(" or ");
      fault(
        missed(text) ? "missing" : "wrong",
        path,
        from === undefined ? text : `${text}, the answer to ${from}`,
        right,
      );
    }
  }
  if (whole !== undefined) compareWhole(fault, run, whole, { outcomes, visited, asks, strict, reuse });
  return faults;
}

const missed = (text) => text.startsWith("ReplayMissError");

/** Each place of the whole run must be there again, except what lies inside something that was answered as a whole. */
function compareWhole(fault, run, whole, { outcomes, visited, asks, strict, reuse }) {
  const before = readLog(whole.log);
  for (const [path, { text }] of before.outcomes) {
    if (outcomes.has(path)) continue;
    const skipped = enclosing(path).some(({ site, mark, life }) => {
      if (mark === "@") return reuse || (life !== undefined && visited.has(site) && laterLife(visited, site, life));
      return reuse || (!asks.has(site) && outcomes.has(site)) || mark === "!";
    });
    if (!skipped) fault("missing", path, "not reached", text);
  }
  if (!strict || run.end.hangs) return;
  const [seen, right] = [run.end, whole.end].map(({ value, error }) => value ?? `rejects with ${error}`);
  if (seen !== right) fault("wrong", "", `the run gives ${seen}`, right);
}

/** The calls, frames and lives around a place. */
export function enclosing(path) {
  return [...path.matchAll(/[>%!]|@(\d+)/g)].map((match) => ({
    site: path.slice(0, match.index),
    mark: match[0][0],
    life: match[1] === undefined ? undefined : Number(match[1]),
  }));
}

/** The frames around the frame that a place lies in. */
const framesAbove = (path) => framesAround(path).slice(0, -1);

const framesAround = (path) => enclosing(path).flatMap(({ site, mark }) => (mark === "@" ? [site] : []));

/** True if the place lies in a frame that had not ended when one above it did: that end aborted it. */
function isAbandoned(path, ended) {
  const around = framesAround(path);
  const first = around.findIndex((site) => ended.has(site));
  return first !== -1 && around.slice(first + 1).some((site) => !ended.has(site));
}

/** True in a life that the agent has left. */
export function leftLife(visited, path) {
  return enclosing(path).some(({ site, life }) => life !== undefined && laterLife(visited, site, life));
}

function laterLife(visited, site, life) {
  for (const path of visited) {
    const found = path.startsWith(`${site}@`) ? Number.parseInt(path.slice(site.length + 1), 10) : -1;
    if (found > life) return true;
  }
  return false;
}

/** Calls that are answered although they had begun after the end of a dropped one. */
export function answeredAfter(log, path, { outcomes, asks, requests }) {
  const end = log.findIndex((one) => one.kind === "saw" && one.path === path);
  const begun = log.slice(end).filter(({ kind }) => kind === "called");
  const wrong = begun.filter(
    (one) =>
      !/[>%!]/.test(one.path) &&
      outcomes.has(one.path) &&
      !asks.has(one.path) &&
      !orderedByTimers(requests.get(one.path)),
  );
  const right = `asked again, because it began after the end of ${path}`;
  return wrong.map((one) => ({ kind: "wrong", path: one.path, seen: "answered", right }));
}
