// Read at load, so that fake timers that a test installs later do not stop the count.
const { nextTick } = process;

/** A turn is over when the microtasks and this many rounds of `nextTick` after them have run. Streams use a few. */
const ROUNDS = 8;

let turn = 0;
let isCounting = false;

/**
 * The number of the current turn of the event loop: of one timer, one piece of I/O, with everything that follows from it
 * at once. Turns are counted only while somebody asks.
 */
export function currentTurn(): number {
  if (!isCounting) {
    isCounting = true;
    countDown(ROUNDS);
  }
  return turn;
}

function countDown(rounds: number): void {
  nextTick(() => {
    if (rounds > 0) return countDown(rounds - 1);
    isCounting = false;
    turn += 1;
  });
}
