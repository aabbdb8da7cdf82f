import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { createRequire } from "node:module";

import { contentHash } from "agent-rewind/debugger";

import { fittedExponent } from "../lib/fit.mjs";
import { FLAT } from "../lib/limits.mjs";
import { measure } from "../lib/measure.mjs";
import { growth, ratio } from "../lib/row.mjs";
import { fillings, tail } from "../workloads/request.mjs";

const { Conversation, RequestTail } = createRequire(import.meta.url)("../../native/binding.cjs");

/** The number of turns per sample: some in each of several conversations, which must not grow much by them. */
const TURNS = 100;

const message = (seed) => fillings["ASCII chat"](2000, seed);
const turn = [message(1), message(2)];

export default async function run({ quick }) {
  const sizes = quick ? [10, 100, 1000] : [10, 100, 1000, 10_000];
  const rows = [];
  const points = [];
  for (const size of sizes) {
    const { turnOfOurs, newPart } = await measure(
      { turnOfOurs: growing(size), newPart: onlyTheNew() },
      { seconds: quick ? 0.5 : 1.5 },
    );
    points.push({ x: size, y: turnOfOurs.min });
    rows.push(
      ratio(`turn after ${size} messages`, turnOfOurs, { name: "hashing new messages and tail", ...newPart }, 3),
    );
  }
  rows.push(growth("growth with the length of the history", fittedExponent(points), FLAT));
  return rows;
}

/** Turns of conversations of about `size` messages, hashed as the runtime does. */
function growing(size) {
  const preparedTail = new RequestTail(JSON.stringify(tail));
  const history = JSON.stringify(Array.from({ length: size }, (_, index) => message(index % 7)));
  const begin = () => {
    const conversation = new Conversation(false);
    conversation.append(history);
    return conversation;
  };
  const take = (conversation) => {
    conversation.append(JSON.stringify(turn));
    return conversation.hash(preparedTail);
  };
  const document = { ...tail, messages: [...JSON.parse(history), ...turn] };
  assert.equal(take(begin()), contentHash(JSON.stringify(document)));

  const turnsOfEach = Math.min(TURNS, Math.ceil(size / 20));
  let conversations;
  return {
    units: TURNS,
    before: () => (conversations = Array.from({ length: Math.ceil(TURNS / turnsOfEach) }, begin)),
    run: () => {
      for (let count = 0; count < TURNS; count++) take(conversations[count % conversations.length]);
    },
  };
}

function onlyTheNew() {
  const tailText = JSON.stringify(tail);
  return {
    units: TURNS,
    before: () => {},
    run: () => {
      for (let count = 0; count < TURNS; count++) hash("sha256", JSON.stringify(turn) + tailText);
    },
  };
}
