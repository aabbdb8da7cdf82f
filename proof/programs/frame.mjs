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
  #signal;
  #round = 0;
  #counts = new Map();

  constructor(parent, key, ordered) {
    this.parent = parent;
    this.key = key;
    this.ordered = ordered;
  }

  /** Begins a generation. */
  enter(round, { signal, callId }) {
    this.#round = round;
    this.#signal = signal;
    this.callId = callId;
    this.#counts = new Map();
  }

  /** Whether it, or a frame above it, has ended: what its left-over code does is nobody's business. */
  get closed() {
    return this.state !== "running" || this.#signal?.aborted === true || (this.parent?.closed ?? false);
  }

  /** Names the frame's current generation. */
  get generation() {
    return `${this.key}@${this.#round}`;
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
