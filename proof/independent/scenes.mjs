// The shapes that programs are made of. Each draws the steps of one shape for a place.

import { ALIKE } from "./content.mjs";
import { branch, frame, inner, par } from "./places.mjs";
import { timedScenes } from "./timed-scenes.mjs";

/** @type {Record<string, { weight: number, needs?: string[], draw: (draw: any, place: any) => any[] }>} */
export const scenes = {
  ...timedScenes,

  call: { weight: 8, draw: (draw, place) => [draw.call(place)] },

  equal: {
    weight: 2,
    draw(draw, place) {
      const what = { q: draw.random.pick(["x", "y"]) };
      const via = draw.random.pick(["call", "http", "tool"]);
      return Array.from({ length: draw.random.between(2, 3) }, () =>
        draw.call({ ...place, fail: false }, { via, what }),
      );
    },
  },

  loop: {
    weight: 1.6,
    draw: (draw, place) => [{ op: "loop", times: draw.random.between(2, 3), body: draw.steps(place, 1) }],
  },

  sleep: {
    weight: 1,
    needs: ["sleep"],
    draw: (draw, place) => [{ op: "sleep", ms: draw.ms }, draw.call(place)],
  },

  content: {
    weight: 2.5,
    draw(draw, place) {
      const { random } = draw;
      const [kind] = draw.content();
      const contents = random.pick([
        () => ["a", "b", "a"].map((letter) => [kind, letter]),
        () => random.pick(ALIKE).map((alike) => [alike, "a"]),
      ])();
      const via = random.pick(["call", "tool"]);
      const calls = contents
        .slice(0, random.between(2, 3))
        .map((content) => draw.call({ ...place, fail: false }, { via, what: { q: "x", with: content } }));
      if (draw.random.chance(0.6)) return calls;
      return [{ op: "par", how: "all", branches: calls.map((call) => [call]) }];
    },
  },

  lost: {
    weight: 1.7,
    needs: ["sleep"],
    draw(draw, place) {
      // A result that cannot be recorded, or a request with content that no hash can see: documented as executed again,
      // which takes its time, like a timer.
      const call = draw.call({ ...place, fail: false }, { via: "call", what: { q: draw.own() } });
      if (draw.random.chance(0.5)) call.plan.gives = "instance";
      else call.what.with = [draw.random.pick(["callback", "secret"]), draw.random.pick(["a", "b"])];
      return [call, draw.call({ ...place, fail: false })];
    },
  },

  inside: {
    weight: 3,
    draw(draw, place) {
      const via = draw.random.pick(["call", "tool"]);
      const steps = draw.steps(inner(place), 2);
      if (place.frames && draw.random.chance(0.3)) {
        const ask = draw.call({ ...place, fail: false }, { via: "call", what: { q: draw.random.pick(["x", "y"]) } });
        steps.push(frame(draw, place, [[ask]]));
      }
      const outer = draw.call({ ...place, fail: false }, { via, inner: steps });
      // Outside, the program often asks what it also asked inside.
      const echo = steps.find(({ op, what }) => (op === "call" || op === "tool") && !what.prev && !what.with);
      if (echo === undefined || draw.random.chance(0.4)) return [outer];
      return [outer, draw.call({ ...place, fail: false }, { via: echo.op, what: echo.what })];
    },
  },

  frame: {
    weight: 3,
    needs: ["frames"],
    draw: (draw, place) => [frame(draw, place, [draw.steps({ ...place, late: place.late, sleep: place.sleep }, 2)])],
  },

  reborn: {
    weight: 1.8,
    needs: ["frames"],
    draw(draw, place) {
      const lives = Array.from({ length: draw.random.between(2, 3) }, () => draw.steps({ ...place, late: false }, 2));
      return [frame(draw, place, lives)];
    },
  },

  agent: {
    weight: 2.3,
    needs: ["frames"],
    draw(draw, place) {
      draw.left -= 1;
      const { random } = draw;
      const turns = Array.from({ length: random.between(0, 2) }, () =>
        Array.from({ length: random.between(1, 2) }, () => ({
          says: random.pick(["answer", "x"]),
          ms: draw.ms,
          ...(random.chance(0.15) && { fail: "always" }),
          ...(random.chance(0.3) && { inner: true }),
        })),
      );
      const uses = turns.flat().some((tool) => tool.inner);
      const plan = { ms: draw.ms, turns, ...(place.fail && random.chance(0.2) && { fail: "always" }) };
      const what = draw.what({ content: 0.1 });
      return [{ op: "agent", what, plan, ...(uses && { inner: draw.steps({ ...inner(place), depth: 1 }, 1) }) }];
    },
  },

  twins: {
    weight: 1.5,
    needs: ["frames"],
    draw(draw, place) {
      // Equal frames, and frames whose inputs differ only in their content.
      const id = "twin";
      const input = { q: draw.random.pick(["x", "y"]) };
      const [kind] = draw.content();
      const differ = draw.random.chance(0.4);
      const branches = ["a", "b", "a"].slice(0, draw.random.between(2, 3)).map((letter) => {
        const steps = [draw.call({ ...place, fail: false }, { via: "call", what: { q: "x" } })];
        return [{ op: "frame", id, input: differ ? { ...input, with: [kind, letter] } : input, lives: [steps] }];
      });
      return [{ op: "par", how: draw.random.pick(["all", "settled"]), branches }];
    },
  },

  par: {
    weight: 4,
    draw(draw, place) {
      const how = draw.random.pick(place.fail ? ["all", "settled"] : ["all", "all", "settled"]);
      const fail = how === "settled" || (how === "all" && place.fail);
      return [par(draw, how, { ...branch(place), fail })];
    },
  },

  race: {
    weight: 2,
    needs: ["late"],
    draw: (draw, place) => [par(draw, "race", { ...branch(place), frames: false, fail: false, depth: 1 })],
  },

  any: {
    weight: 1.5,
    needs: ["late"],
    draw(draw, place) {
      const step = par(draw, "any", { ...branch(place), frames: false, fail: true, depth: 1 });
      if (place.fail) return [step];
      return [{ op: "guard", how: draw.random.pick(["catch", "then"]), body: [step], fallback: [] }];
    },
  },

  attempts: {
    weight: 3,
    draw(draw) {
      const what = { q: draw.random.pick(["x", "y"]) };
      const via = draw.random.pick(["http", "http", "tries"]);
      const branches = Array.from({ length: draw.random.between(2, 4) }, () => {
        draw.left -= 1;
        const tries = Array.from({ length: draw.random.between(1, 3) }, () => draw.ms);
        return [{ op: via, what, plan: { tries, pause: draw.random.between(1, 5) } }];
      });
      return [{ op: "par", how: draw.random.pick(["all", "all", "settled"]), branches }];
    },
  },

  guard: {
    weight: 5,
    draw(draw, place) {
      const { random } = draw;
      const how = random.pick(["catch", "catch", "then", "settled"]);
      const body = draw.steps({ ...branch(place), late: place.late, sleep: place.sleep, fail: true }, 2);
      if (random.chance(0.7))
        body.push(draw.call(place, { via: random.pick(["call", "tool", "http", "stream"]), fail: "always" }));
      const framed = place.frames && random.chance(0.3);
      return [
        {
          op: "guard",
          how,
          body: framed ? [frame(draw, place, [body])] : body,
          fallback: how === "settled" || random.chance(0.25) ? [] : draw.steps({ ...place, fail: false }, 1),
        },
        ...(random.chance(0.6) ? [draw.call({ ...place, fail: false })] : []),
      ];
    },
  },

  again: {
    weight: 2,
    needs: ["sleep"],
    draw(draw, place) {
      draw.left -= 1;
      const via = draw.random.pick(["call", "tool", "http"]);
      const calls = Array.from({ length: draw.random.between(2, 3) }, () => draw.ms);
      return [
        { op: "again", via, what: { q: draw.own() }, ms: calls, pause: draw.ms },
        draw.call({ ...place, fail: false }),
      ];
    },
  },

  stream: { weight: 1.5, draw: (draw, place) => [draw.call({ ...place, fail: false }, { via: "stream" })] },
};
