// Values that programs send: classes of their own, and what JSON lacks.

export class Human {
  constructor(content) {
    this.content = content;
  }
  says() {
    return String(this.content);
  }
}

export class Bot extends Human {}

export class Money {
  constructor(amount) {
    this.amount = amount;
  }
  toJSON() {
    return { amount: this.amount };
  }
}

class Secret {
  #letter;
  constructor(letter) {
    this.#letter = letter;
  }
  get letter() {
    return this.#letter;
  }
}

/** Content that no hash can see. A call with it is executed again. */
export const HIDDEN = {
  callback: (a) => ({ done: () => a }),
  secret: (a) => new Secret(a),
};

/** Kinds of content. Each makes a value out of a letter; two letters make two different values. */
export const CONTENT = {
  human: (a) => new Human(a),
  bot: (a) => new Bot(a),
  nested: (a) => ({ list: [new Human("same"), new Bot(new Human(a))] }),
  money: (a) => new Money(a),
  bytes: (a) => new TextEncoder().encode(a),
  floats: (a) => Float32Array.of(a.codePointAt(0), 0.5),
  view: (a) => new DataView(new TextEncoder().encode(`view ${a}`).buffer),
  map: (a) => new Map([["key", a]]),
  set: (a) => new Set([a]),
  date: (a) => new Date(a.codePointAt(0)),
  url: (a) => new URL(`https://example.com/${a}`),
  params: (a) => new URLSearchParams({ a }),
  headers: (a) => new Headers({ "x-a": a }),
  regexp: (a) => new RegExp(a, "u"),
  error: (a) => new RangeError(a),
  big: (a) => BigInt(a.codePointAt(0)),
  plain: (a) => ({ content: a }),
  text: (a) => `text ${a}`,
  base64: (a) => Buffer.from(a).toString("base64"),
  list: (a) => [a],
  pairs: (a) => [["key", a]],
  iso: (a) => new Date(a.codePointAt(0)).toISOString(),
  address: (a) => `https://example.com/${a}`,
  digits: (a) => String(a.codePointAt(0)),
  undefined: (a) => ({ [a]: undefined, other: 1 }),
};

/** Kinds whose values look the same as JSON. */
export const ALIKE = [
  ["human", "bot"],
  ["human", "plain"],
  ["bot", "plain"],
  ["bytes", "base64"],
  ["set", "list"],
  ["map", "pairs"],
  ["date", "iso"],
  ["url", "address"],
  ["big", "digits"],
];
