/**
 * A frame as the program sees it. The checks need to identify calls and frames independently of the numbers that the
 * package assigns.
 */
export class Frame {
  parent;
  key;
  /**
   * True if a replay has the same order of events in the frame. An agent that was reborn starts in its last generation.
   */
  ordered;
  state = "running";
  callId = "root";
  /** In the world's order of starts and ends. */
  lastStart = -1;
  endedAt = undefined;
  /** The prompt of the agent, one per generation. */
  prompt;
  #signal;
  #scope;
  #pass;

  /** @param {Pass | undefined} parent the generation of the agent that called this one */
  constructor(parent, key, ordered) {
    this.parent = parent;
    this.key = key;
    this.ordered = ordered;
  }

  /** Starts a generation. */
  enter(round, { signal, callId, scope }) {
    this.#signal = signal;
    this.#scope = scope;
    this.callId = callId;
    this.#pass = new Pass(this, round);
    return this.#pass;
  }

  /** True if the frame or one of its ancestors has ended. The results of code that still runs in it do not matter. */
  get closed() {
    return this.state !== "running" || this.#signal?.aborted === true || (this.parent?.closed ?? false);
  }

  /** True if the frame has ended in the journal. The program sees that some microtasks later. */
  get isOver() {
    return this.state !== "running" || this.#scope?.closed === true;
  }

  /** True if the agent is in this generation. */
  isIn(pass) {
    return this.#pass === pass;
  }
}

/** A generation of a frame: the code that belongs to it, even after the agent was reborn. */
export class Pass {
  frame;
  /** A name for the generation. */
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

  /** True if the agent was reborn since. */
  get isPast() {
    return !this.frame.isIn(this);
  }

  /** True if the results of the code no longer matter. */
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
