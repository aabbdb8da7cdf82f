// Read at load, so that fake timers that a test installs later do not stop the count.
const { nextTick } = process;

/** A turn is over when the microtasks and this many ticks after them have run. Streams use a few. */
const TICKS_IN_TURN = 9;

let tick = 0;
let turn = 0;
/** The ticks that are left of the turn. */
let left = 0;
let isCounting = false;

/** The number of the current tick: of what runs until the callbacks of all settled promises have run. */
export function currentTick(): number {
  count();
  return tick;
}

/**
 * The number of the current turn of the event loop: of one timer, one piece of I/O, with everything that follows from it
 * at once. Ticks and turns are counted only while somebody asks.
 */
export function currentTurn(): number {
  if (left === 0) left = TICKS_IN_TURN;
  count();
  return turn;
}

function count(): void {
  if (isCounting) return;
  isCounting = true;
  nextTick(() => {
    isCounting = false;
    tick += 1;
    if (left === 0) return;
    left -= 1;
    if (left === 0) turn += 1;
    else count();
  });
}
