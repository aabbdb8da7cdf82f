// Parts that several scenes use.

/** Inside a call. */
export const inner = (place) => ({ ...place, depth: place.depth - 1, late: false, sleep: false, fail: false });

/** In a parallel branch. */
export const branch = (place) => ({ ...place, depth: place.depth - 1, sleep: false });

export function frame(draw, place, lives) {
  const { random } = draw;
  const input = { q: random.pick(["x", "y", draw.own()]) };
  if (lives.length === 1 && random.chance(0.12)) input.with = draw.content();
  return { op: "frame", id: random.pick(["agent", "worker"]), input, lives };
}

/** Parallel branches. */
export function par(draw, how, place) {
  const count = draw.random.between(2, 3);
  const framed = place.frames && draw.random.chance(0.4);
  const branches = Array.from({ length: count }, () => {
    const steps = draw.steps(place, 2);
    return framed ? [frame(draw, place, [steps])] : steps;
  });
  return { op: "par", how, branches };
}
