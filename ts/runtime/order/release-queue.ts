// Read at load, so that fake timers that a test installs later do not stop a replay.
const nextMacrotask = setImmediate;

interface Pending {
  order: number;
  tick: number | undefined;
  arrival: number;
  release: () => void;
}

/**
 * Releases replayed calls in the recorded order of their ends, one per macrotask, and together if they ended in one tick
 * when they were recorded. Nothing waits for a call that is not
 * pending, so a changed program cannot hang.
 */
export class ReleaseQueue {
  readonly #heap: Pending[] = [];
  #arrivals = 0;
  #scheduled = false;

  /**
   * Resolves when this call may end. `order` is the position of its recorded end, if it has one. `tick` is the same
   * number for all calls that may end together with it.
   */
  waitForRelease(order: number | undefined, tick?: number): Promise<void> {
    return this.#wait(order ?? Number.MAX_SAFE_INTEGER, tick);
  }

  /** Resolves when nothing else is pending. */
  idle(): Promise<void> {
    return this.#wait(Number.POSITIVE_INFINITY);
  }

  /** True if a call or frame with a recorded end before `order` is still pending. */
  holdsBefore(order: number): boolean {
    const first = this.#heap[0];
    return first !== undefined && first.order < order;
  }

  #wait(order: number, tick?: number): Promise<void> {
    return new Promise((release) => {
      this.#push({ order, tick, arrival: this.#arrivals++, release });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    nextMacrotask(() => {
      this.#scheduled = false;
      this.#releaseNext();
      if (this.#heap.length > 0) this.#schedule();
    });
  }

  #releaseNext(): void {
    const first = this.#pop();
    first?.release();
    if (first?.tick === undefined) return;
    while (this.#heap[0]?.tick === first.tick) this.#pop()?.release();
  }

  #push(pending: Pending): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(pending);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Pending;
      if (!before(pending, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = pending;
  }

  #pop(): Pending | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = child + 1;
      if (right < heap.length && before(heap[right] as Pending, heap[child] as Pending)) child = right;
      const below = heap[child] as Pending;
      if (!before(below, last)) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function before(left: Pending, right: Pending): boolean {
  return left.order === right.order ? left.arrival < right.arrival : left.order < right.order;
}
