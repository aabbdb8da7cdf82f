/**
 * A frame as the program sees it: the checks need to know calls and frames by what they are, however the package
 * numbers them.
 */
export class Frame {
  parent;
  key;
  /** Whether the order of what happens in it is the same on replay: an agent that was reborn enters its last generation. */
  ordered;
  state = "running";
  callId = "root";
  /** In the world's order of starts and ends. */
  lastStart = -1;
  endedAt = undefined;
  /** The prompt of the agent, which has one in each generation. */
  prompt;
  #signal;
  #scope;
  #pass;

  /** @param {Pass | undefined} parent the generation of the agent that has called this one */
  constructor(parent, key, ordered) {
    this.parent = parent;
    this.key = key;
    this.ordered = ordered;
  }

  /** Begins a generation. */
  enter(round, { signal, callId, scope }) {
    this.#signal = signal;
    this.#scope = scope;
    this.callId = callId;
    this.#pass = new Pass(this, round);
    return this.#pass;
  }

  /** Whether it, or a frame above it, has ended: what its left-over code does is nobody's business. */
  get closed() {
    return this.state !== "running" || this.#signal?.aborted === true || (this.parent?.closed ?? false);
  }

  /** Whether it has ended in the journal: the program sees that some microtasks later. */
  get isOver() {
    return this.state !== "running" || this.#scope?.closed === true;
  }

  /** Whether the agent is in this generation. */
  isIn(pass) {
    return this.#pass === pass;
  }
}

/** A generation of a frame: the code that belongs to it, also when the agent has been reborn since. */
export class Pass {
  frame;
  /** Names the generation. */
  generation;
  #counts = new Map();

  constructor(frame, round) {
    this.frame = frame;
    this.generation = `${frame.key}@${round}`;
  }

  get key() {
    return this.frame.key;
  }

  get callId() {
    return this.frame.callId;
  }

  get parent() {
    return this.frame.parent;
  }

  get ordered() {
    return this.frame.ordered;
  }

  get state() {
    return this.frame.state;
  }

  get isOver() {
    return this.frame.isOver;
  }

  get lastStart() {
    return this.frame.lastStart;
  }

  get endedAt() {
    return this.frame.endedAt;
  }

  get prompt() {
    return this.frame.prompt;
  }

  /** Whether the agent has been reborn since. */
  get isPast() {
    return !this.frame.isIn(this);
  }

  /** Whether what the code does is nobody's business any more. */
  get closed() {
    return this.frame.closed || this.isPast;
  }

  /** Names the next occurrence of something in this generation. */
  occurrence(what) {
    const count = this.#counts.get(what) ?? 0;
    this.#counts.set(what, count + 1);
    return { name: `${this.generation} ${what} #${count}`, count };
  }

  child(what, reborn) {
    return new Frame(this, this.occurrence(`/${what}`).name, this.ordered && !reborn);
  }
}
