// Equal requests of one frame are answered in the order of their starts, as documented, unless their lanes tell them
// apart. A program in which something takes another time than before may start them in another order.

/**
 * @typedef {{ path: string, from: number, to: number }} Start what was open from one entry of the log to another
 * @typedef {Map<string, Start[]>} Starts the starts of equal requests in one place, in their order
 */

/** The frame, life of an agent or call that a place lies in. */
const around = (path) => /^.*[>%!]|^.*@\d+|/.exec(path)[0];

/**
 * @param {{ kind: string, path: string, text?: string, via?: string }[]} log
 * @param {Starts} [earlier] what a recording contained that this run started from. It comes after what this run did.
 * @returns {Starts}
 */
export function startsOf(log, earlier = new Map()) {
  const starts = new Map();
  const open = new Map();
  for (const [at, { kind, path, text, via }] of log.entries()) {
    if (kind === "saw" || kind === "failed") {
      const start = open.get(path);
      if (start !== undefined) start.to = at;
    } else if (kind === "start") {
      const start = { path, from: at, to: Infinity };
      open.set(path, start);
      add(starts, `${via} ${text} in ${around(path)}`, start);
    }
  }
  for (const [key, list] of earlier) for (const start of list) if (!open.has(start.path)) add(starts, key, start);
  return starts;
}

function add(starts, key, start) {
  const list = starts.get(key);
  if (list === undefined) starts.set(key, [start]);
  else list.push(start);
}

/**
 * Where a run starts equal requests in another order than its recording, and nothing tells them apart: by place, the
 * place whose recorded answer it gets, or `undefined` without one.
 *
 * @param {Starts} recorded
 * @param {Starts} now
 * @returns {Map<string, string | undefined>}
 */
export function exchanged(recorded, now) {
  const others = new Map();
  for (const [key, list] of now) {
    const before = recorded.get(key) ?? [];
    for (const [index, { path }] of list.entries()) {
      const own = before.find((one) => one.path === path);
      const other = before[index];
      if (other?.path === path || before.length === 0) continue;
      if (own !== undefined && other !== undefined && haveLanes(own, other)) continue;
      others.set(path, other?.path);
    }
  }
  return others;
}

/** Open together, and in branches that something awaits: the winner of a race leaves the others without a lane. */
function haveLanes(one, other) {
  const isAwaited = ({ path }) => !/[&^]/.test(path);
  return one.from < other.to && other.from < one.to && isAwaited(one) && isAwaited(other);
}
