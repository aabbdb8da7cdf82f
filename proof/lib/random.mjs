/** Pseudo-random numbers that depend only on the seeds. */
export class Random {
  #a;
  #b;
  #c;
  #d;

  /** @param {...(number | string)} seeds */
  constructor(...seeds) {
    const text = seeds.join("/");
    [this.#a, this.#b, this.#c, this.#d] = [1, 2, 3, 4].map((salt) => hash32(text, salt));
    for (let round = 0; round < 12; round++) this.next();
  }

  /** A number in [0, 1). The generator is sfc32. */
  next() {
    const sum = (((this.#a + this.#b) | 0) + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  /** A whole number in [0, end). */
  below(end) {
    return Math.floor(this.next() * end);
  }

  /** A whole number in [first, last]. */
  between(first, last) {
    return first + this.below(last - first + 1);
  }

  chance(probability) {
    return this.next() < probability;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  /** One of the keys of a table of weights. */
  weighted(table) {
    const rows = Object.entries(table).filter(([, weight]) => weight > 0);
    let at = this.next() * rows.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of rows) {
      at -= weight;
      if (at < 0) return key;
    }
    return rows.at(-1)[0];
  }
}

/** FNV-1a over UTF-16 code units, mixed at the end. */
export function hash32(text, salt = 0) {
  let hash = 0x811c9dc5 ^ salt;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Eight hex digits that identify a text. */
export function digest(text) {
  return hash32(text).toString(16).padStart(8, "0");
}
