// Smallest changes of JSON values.

/** A Latin letter and one that looks the same. */
const LOOK_ALIKES = {
  a: "а",
  e: "е",
  o: "о",
  p: "р",
  c: "с",
  i: "і",
  A: "А",
  O: "О",
  "-": "‐",
  " ": "\u00a0",
  ".": "․",
};

const TEXT_CHANGES = {
  "a character": (text, random) => {
    const at = random.below(text.length);
    const other = text[at] === "x" ? "y" : "x";
    return text.slice(0, at) + other + text.slice(at + 1);
  },
  "a character less": (text, random) => {
    const at = random.below(text.length);
    return text.slice(0, at) + text.slice(at + 1);
  },
  "two characters swapped": (text, random) => {
    const at = random.below(text.length - 1);
    return text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2);
  },
  "a space at the end": (text) => `${text} `,
  "a line end at the end": (text) => `${text}\n`,
  "a space at the start": (text) => ` ${text}`,
  "a look-alike": (text, random) => {
    const letters = [...text].flatMap((character, at) => (character in LOOK_ALIKES ? [at] : []));
    if (letters.length === 0) return text;
    const at = random.pick(letters);
    const characters = [...text];
    characters[at] = LOOK_ALIKES[characters[at]];
    return characters.join("");
  },
  "an invisible character": (text, random) => {
    const at = random.below(text.length + 1);
    return text.slice(0, at) + random.pick(["\u200b", "\u00ad", "\ufeff", "\u0000"]) + text.slice(at);
  },
  "other case": (text, random) => {
    const letters = [...text].flatMap((character, at) =>
      character.toLowerCase() === character.toUpperCase() ? [] : [at],
    );
    if (letters.length === 0) return text;
    const at = random.pick(letters);
    const characters = [...text];
    const upper = characters[at].toUpperCase();
    characters[at] = characters[at] === upper ? characters[at].toLowerCase() : upper;
    return characters.join("");
  },
  "other normalization": (text) => text.normalize("NFD"),
  "a lone surrogate": (text) => `${text}\ud83d`,
};

/** Changes a text in one place. */
export function otherText(text, random) {
  if (text.length < 2) return `${text}x`;
  for (;;) {
    const other = random.pick(Object.values(TEXT_CHANGES))(text, random);
    if (other !== text) return other;
  }
}

export function otherNumber(number, random) {
  return random.pick([
    () => number + 1,
    () => (number === 0 ? Number.MIN_VALUE : number * (1 + Number.EPSILON)),
    () => -number - 1,
    () => String(number),
    () => number + 0.5,
    () => [number],
    () => null,
  ])();
}

/** The paths of a JSON value, as lists of keys. */
export function places(value, path = []) {
  if (typeof value !== "object" || value === null || value instanceof Date) return [path];
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value);
  return [path, ...Array.from(keys).flatMap((key) => places(value[key], [...path, key]))];
}

/** Changes a JSON value in one place. Returns a changed copy and a description of the change. */
export function mutateAnywhere(value, random) {
  for (;;) {
    const copy = structuredClone(value);
    const path = random.pick(places(value));
    const key = path.at(-1);
    const holder = path.slice(0, -1).reduce((at, step) => at[step], copy);
    const old = path.length === 0 ? copy : holder[key];
    const how = mutate(old, random);
    if (how === undefined) continue;
    const where = `/${path.join("/")}`;
    if (path.length === 0) return { value: how.value, how: how.name, where };
    holder[key] = how.value;
    return { value: copy, how: how.name, where };
  }
}

function mutate(value, random) {
  if (typeof value === "string") return { name: "a text", value: otherText(value, random) };
  if (typeof value === "number") return { name: "a number", value: otherNumber(value, random) };
  if (typeof value === "boolean")
    return { name: "a boolean", value: random.pick([!value, String(value), Number(value), null]) };
  if (value === null) return { name: "null", value: random.pick([0, "", false, "null", {}, []]) };
  if (value instanceof Date) return { name: "a date", value: new Date(value.getTime() + random.pick([1, -1, 1000])) };
  return Array.isArray(value) ? mutateList(value, random) : mutateObject(value, random);
}

function mutateList(list, random) {
  const change = random.pick(["more", "less", "twice", "order", "empty inside"]);
  if (change === "more") return { name: "an element more", value: [...list, random.pick([null, "", 0, {}])] };
  if (change === "empty inside") return { name: "a list in a list", value: [list] };
  if (list.length === 0) return undefined;
  const at = random.below(list.length);
  if (change === "less") return { name: "an element less", value: list.toSpliced(at, 1) };
  if (change === "twice") return { name: "an element twice", value: list.toSpliced(at, 0, list[at]) };
  if (list.length < 2) return undefined;
  const before = at === 0 ? 1 : at;
  const swapped = list.slice();
  [swapped[before - 1], swapped[before]] = [swapped[before], swapped[before - 1]];
  if (JSON.stringify(swapped) === JSON.stringify(list)) return undefined;
  return { name: "the order of a list", value: swapped };
}

function mutateObject(object, random) {
  const keys = Object.keys(object);
  const change = random.pick(["junk", "less", "name", "swap"]);
  if (change === "junk")
    return {
      name: "a field more",
      value: { ...object, [random.pick(["junk", "_", "x-trace", "toJSON2"])]: random.pick([1, null, "", false]) },
    };
  if (keys.length === 0) return undefined;
  const key = random.pick(keys);
  const { [key]: value, ...rest } = object;
  if (change === "less") return { name: "a field less", value: rest };
  if (change === "name") return { name: "the name of a field", value: { ...rest, [otherText(key, random)]: value } };
  const other = random.pick(keys);
  if (JSON.stringify(object[other]) === JSON.stringify(value)) return undefined;
  return { name: "two fields swapped", value: { ...object, [key]: object[other], [other]: value } };
}
