// Shapes in which something ends late, early, together with something else, or is stopped.

import { branch, frame, inner } from "./places.mjs";

/** @type {import("./scenes.mjs").scenes} */
export const timedScenes = {
  late: {
    weight: 2,
    needs: ["late", "frames"],
    draw(draw, place) {
      const slow = draw.call({ ...place, fail: false }, { via: draw.random.pick(["call", "http", "tool"]) });
      if (slow.plan.ms !== undefined) slow.plan.ms += 40;
      const quick = draw.call({ ...place, fail: false }, { via: "call" });
      const steps = draw.random.pick([
        () => [{ op: "spawn", body: [slow] }, quick],
        () => [{ op: "par", how: "race", branches: [[slow], [quick]] }],
      ])();
      return [frame(draw, place, [steps]), ...draw.steps({ ...place, depth: 1 }, 2)];
    },
  },

  hedge: {
    weight: 1.2,
    needs: ["late"],
    draw(draw, place) {
      // The same request again while the first one is open. The quicker answer counts.
      const via = draw.random.pick(["call", "http", "tool"]);
      const what = { q: draw.own() };
      const first = { op: via, what, plan: { ms: 20 + draw.ms } };
      const quick = draw.call({ ...place, fail: false }, { via: "call", what: { q: draw.own() } });
      const second = { op: via, what, plan: { ms: draw.ms } };
      draw.left -= 2;
      return [{ op: "par", how: "race", branches: [[first], [quick, second]] }];
    },
  },

  turn: {
    weight: 2,
    draw(draw) {
      const { random } = draw;
      const tag = draw.own();
      const ms = random.chance(0.5) ? 0 : draw.ms;
      const branches = Array.from({ length: random.between(2, 3) }, () => [
        { op: "call", what: { q: draw.own() }, plan: { ms, ...(ms > 0 && { turn: tag }) } },
      ]);
      draw.left -= branches.length;
      const how = random.pick(["race", "race", "any", "all"]);
      return [{ op: "par", how, branches, nest: branches.map(() => random.below(4)) }];
    },
  },

  early: {
    weight: 1.7,
    draw(draw, place) {
      const between = draw.steps({ ...place, depth: 1, late: false, fail: false }, 2);
      const fail = draw.random.chance(0.6) ? "always" : "no";
      const sleep = place.sleep && draw.random.chance(0.3);
      return [
        {
          op: "early",
          what: { q: draw.own() },
          plan: { ms: 400, fail },
          between: sleep ? [...between, { op: "sleep", ms: 20 }] : between,
        },
      ];
    },
  },

  nested: {
    weight: 1.5,
    draw: (draw, place) => [
      {
        op: "nested",
        what: draw.what({ content: 0 }),
        plan: { ms: draw.ms },
        inner: draw.steps({ ...inner(place), depth: 1 }, 2),
      },
    ],
  },

  lanes: {
    weight: 2,
    needs: ["sleep"],
    draw(draw) {
      // Equal requests that are open at the same time, in branches that a replay starts in another order.
      const { random } = draw;
      const what = { q: `lane ${draw.own()}` };
      const branches = Array.from({ length: random.between(2, 3) }, (_, index) => {
        const equal = { op: "call", what, plan: { ms: 60 + draw.ms } };
        const before = random.chance(0.5)
          ? { op: "sleep", ms: random.between(1, 9) + index / 10 }
          : { op: "call", what: { q: draw.own() }, plan: { ms: random.between(1, 9) + index / 10 } };
        return [before, equal];
      });
      draw.left -= branches.length;
      return [{ op: "par", how: random.pick(["all", "settled"]), branches }];
    },
  },

  orphan: {
    weight: 1.7,
    needs: ["frames"],
    draw(draw, place) {
      // A frame that ends while a frame in it is active: that one is aborted.
      const plan = { ms: 300, ...(draw.random.chance(0.5) && { deaf: true }) };
      const slow = { op: "call", what: { q: `slow ${draw.own()}` }, plan };
      const quick = draw.call({ ...place, fail: false }, { via: "call", what: { q: draw.own() } });
      const inside = { op: "frame", id: draw.own(), input: {}, lives: [[slow]] };
      const steps = draw.random.pick([
        () => [{ op: "par", how: "race", branches: [[inside], [quick]] }],
        () => [{ op: "spawn", body: [inside] }, quick],
      ])();
      draw.left -= 1;
      return [frame(draw, place, [steps]), ...draw.steps({ ...place, depth: 1, fail: false }, 1)];
    },
  },

  abort: {
    weight: 2,
    needs: ["frames"],
    draw(draw, place) {
      const via = draw.random.pick(["call", "http", "tool"]);
      const slow = { op: via, what: { q: `slow ${draw.own()}` }, plan: { ms: 300 } };
      const quick = draw.call({ ...place, fail: false }, { via: "call", what: { q: draw.own() } });
      const how = draw.random.pick(["handle", "controller"]);
      draw.left -= 1;
      return [
        { op: "abort", how: via === "http" ? how : "handle", id: draw.own(), slow, quick },
        ...draw.steps({ ...place, depth: 1, fail: false }, 1),
      ];
    },
  },

  spawn: {
    weight: 2,
    needs: ["late"],
    draw(draw, place) {
      const body = draw.steps({ ...branch(place), depth: 1, frames: false, fail: true }, 2);
      return [{ op: "spawn", body }, ...draw.steps({ ...place, depth: 1 }, 2)];
    },
  },
};
