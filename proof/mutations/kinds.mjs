// The kinds of changes. Each changes one thing in the program's requests.

import { mutateAnywhere, otherNumber, otherText } from "./values.mjs";

/**
 * @typedef {object} Kind
 * @property {string} name
 * @property {(spec: any, random: import("../lib/random.mjs").Random) => string | void} change changes the
 *   specification in place, and may return the place
 */

/** Changes that make requests different. @type {Kind[]} */
export const kinds = [
  { name: "system prompt, text", change: (spec, random) => texts(spec.systems, random) },
  { name: "system prompt, one more", change: (spec) => void spec.systems.push("") },
  {
    name: "system prompt, one less",
    change: (spec, random) => void spec.systems.splice(random.below(spec.systems.length), 1),
  },
  { name: "system prompt, order", change: (spec) => void (spec.systems = spec.systems.toReversed()) },
  {
    name: "system prompt as instruction",
    change(spec) {
      spec.instructions.unshift([{ type: "text", text: spec.systems.pop() }]);
    },
  },
  {
    name: "earlier message, text",
    change(spec, random) {
      const part = random.pick(spec.instructions)[0];
      part.text = otherText(part.text, random);
    },
  },
  { name: "message, one more", change: (spec) => void spec.instructions.push([{ type: "text", text: "Thanks." }]) },
  {
    name: "message, one less",
    change: (spec, random) => void spec.instructions.splice(random.below(spec.instructions.length), 1),
  },
  { name: "messages, order", change: (spec) => void (spec.instructions = spec.instructions.toReversed()) },
  { name: "messages, two joined", change: (spec) => void (spec.instructions = [spec.instructions.flat()]) },
  {
    name: "message, order of its parts",
    change: (spec) => void (spec.instructions[0] = spec.instructions[0].toReversed()),
  },
  {
    name: "image under the same text",
    change(spec, random) {
      const { image } = spec.instructions[0][1];
      const at = random.between(30, image.url.length - 4);
      image.url = `${image.url.slice(0, at)}${image.url[at] === "Q" ? "R" : "Q"}${image.url.slice(at + 1)}`;
    },
  },
  {
    name: "image, detail",
    change: (spec, random) => void (spec.instructions[0][1].image.detail = random.pick(["low", "high"])),
  },
  { name: "image left out", change: (spec) => void spec.instructions[0].pop() },
  {
    name: "tools, order",
    change(spec, random) {
      const at = random.between(1, spec.tools.length - 1);
      [spec.tools[at - 1], spec.tools[at]] = [spec.tools[at], spec.tools[at - 1]];
    },
  },
  { name: "tools, one less", change: (spec, random) => void spec.tools.splice(random.below(spec.tools.length), 1) },
  {
    name: "tools, one more",
    change: (spec) => void spec.tools.push({ name: "clock", description: "Tells the time", parameters: {} }),
  },
  { name: "tool, description", change: (spec, random) => changeText(random.pick(spec.tools), "description", random) },
  { name: "tool, name", change: (spec, random) => changeText(random.pick(spec.tools), "name", random) },
  { name: "tool, parameter's name", change: (spec, random) => rename(random.pick(spec.tools).parameters, random) },
  {
    name: "tool, parameter's description",
    change: (spec, random) => changeText(anyField(random.pick(spec.tools).parameters, random), "description", random),
  },
  {
    name: "tool, parameter's type",
    change: (spec, random) => otherType(anyField(random.pick(spec.tools).parameters, random)),
  },
  {
    name: "tool, parameter optional",
    change: (spec, random) => void (anyField(random.pick(spec.tools).parameters, random).optional = true),
  },
  {
    name: "tool, one parameter more",
    change: (spec, random) => void (random.pick(spec.tools).parameters.junk = { type: "string" }),
  },
  { name: "temperature", change: (spec, random) => void (spec.modelOptions.temperature = otherNumber(0.7, random)) },
  { name: "seed", change: (spec, random) => void (spec.modelOptions.seed = otherNumber(7, random)) },
  {
    name: "option left out",
    change: (spec, random) => void delete spec.modelOptions[random.pick(Object.keys(spec.modelOptions))],
  },
  {
    name: "option more",
    change: (spec, random) =>
      void (spec.modelOptions[random.pick(["top_p", "user", "n"])] = random.pick([1, 0.5, null, "1"])),
  },
  {
    name: "option, key with other case",
    change: (spec, random) => rename(spec.modelOptions, random, (key) => key[0].toUpperCase() + key.slice(1)),
  },
  {
    name: "options, anywhere",
    change: (spec, random) =>
      anywhere(
        spec,
        "modelOptions",
        random,
        (options) => typeof options === "object" && options !== null && !Array.isArray(options),
      ),
  },
  {
    name: "toolChoice",
    change: (spec, random) =>
      void (spec.toolChoice = random.pick([
        "none",
        "required",
        { type: "function", function: { name: "weather" } },
        undefined,
      ])),
  },
  { name: "model id", change: (spec, random) => changeText(spec.model, "id", random) },
  { name: "model provider", change: (spec, random) => changeText(spec.model, "provider", random) },
  { name: "model provider left out", change: (spec) => void delete spec.model.provider },
  { name: "schema, property's name", change: (spec, random) => rename(spec.schema, random) },
  {
    name: "schema, description",
    change: (spec, random) => changeText(anyField(spec.schema, random), "description", random),
  },
  {
    name: "schema, description left out",
    change: (spec, random) => void delete anyField(spec.schema, random).description,
  },
  { name: "schema, type", change: (spec, random) => otherType(anyField(spec.schema, random)) },
  { name: "schema, optional", change: (spec, random) => void (anyField(spec.schema, random).optional = true) },
  {
    name: "schema, one property more",
    change: (spec) => void (spec.schema.reason = { type: "string", optional: true }),
  },
  {
    name: "schema, one property less",
    change: (spec, random) => void delete spec.schema[random.pick(Object.keys(spec.schema))],
  },
  {
    name: "tool input, junk field",
    change: (spec, random) =>
      void (random.pick([spec.input, spec.input.options]).junk = random.pick([1, null, "", undefined])),
  },
  { name: "tool input, anywhere", change: (spec, random) => anywhere(spec, "input", random) },
  { name: "own call, anywhere", change: (spec, random) => anywhere(spec.call, "request", random) },
  {
    name: "own call, date",
    change: (spec, random) =>
      void (spec.call.request.since = new Date(spec.call.request.since.getTime() + random.pick([1, -1]))),
  },
  {
    name: "own call, date as text",
    change: (spec) => void (spec.call.request.since = spec.call.request.since.toISOString()),
  },
  { name: "own call, name", change: (spec, random) => changeText(spec.call, "name", random) },
  { name: "own call, kind", change: (spec, random) => changeText(spec.call, "kind", random) },
  { name: "client's request, anywhere", change: (spec, random) => anywhere(spec, "wire", random), weight: 8 },
  {
    name: "client's request, messages' order",
    change(spec, random) {
      const { messages } = spec.wire;
      const at = random.between(1, messages.length - 1);
      [messages[at - 1], messages[at]] = [messages[at], messages[at - 1]];
    },
  },
  { name: "client's request, number as text", change: (spec, random) => numberAsText(spec.wire.options, random) },
];

/** Changes that keep requests equivalent. @type {Kind[]} */
export const equivalents = [
  {
    // Does not reorder the fields of schemas, because `required` lists them in this order and is sent.
    name: "order of keys",
    change(spec, random) {
      for (const key of ["model", "modelOptions", "instructions", "input", "call", "wire"])
        spec[key] = shuffledKeys(spec[key], random);
    },
  },
  {
    name: "1 as 1.0",
    change(spec) {
      spec.input = JSON.parse(JSON.stringify(spec.input).replace('"days":2', '"days":2.0'));
      spec.wire.options.max_tokens = JSON.parse("5.12e2");
      spec.modelOptions.seed = JSON.parse("7.000");
      spec.wire.options.temperature = JSON.parse("0.0");
    },
  },
  {
    name: "same date",
    change: (spec) => void (spec.call.request.since = new Date(spec.call.request.since.toISOString())),
  },
  {
    name: "escapes",
    change: (spec) =>
      void (spec.wire = JSON.parse(JSON.stringify(spec.wire).replaceAll("O", "\\u004f").replaceAll("/", "\\/"))),
  },
  { name: "copies", change: (spec) => void Object.assign(spec, structuredClone(spec)) },
  { name: "option that is undefined", change: (spec) => void (spec.modelOptions.top_k = undefined) },
  { name: "frozen", change: (spec) => deepFreeze(spec.wire) },
  {
    name: "without a prototype",
    change: (spec) => void (spec.input.options = Object.assign(Object.create(null), spec.input.options)),
  },
];

function texts(list, random) {
  const at = random.below(list.length);
  list[at] = otherText(list[at], random);
}

function changeText(holder, key, random) {
  holder[key] = otherText(holder[key], random);
  return JSON.stringify(holder[key]);
}

function anyField(fields, random) {
  return fields[random.pick(Object.keys(fields))];
}

function otherType(field) {
  field.type = field.type === "string" ? "number" : "string";
}

function rename(fields, random, name = (key) => otherText(key, random)) {
  const key = random.pick(Object.keys(fields).filter((each) => name(each) !== each));
  const value = fields[key];
  delete fields[key];
  fields[name(key)] = value;
}

function anywhere(holder, key, random, fits = () => true) {
  for (;;) {
    const { value, how, where } = mutateAnywhere(holder[key], random);
    if (!fits(value)) continue;
    holder[key] = value;
    return `${how} at ${where}`;
  }
}

function numberAsText(options, random) {
  const key = random.pick(Object.keys(options).filter((each) => typeof options[each] === "number"));
  options[key] = String(options[key]);
}

function shuffledKeys(value, random) {
  if (Array.isArray(value)) return value.map((each) => shuffledKeys(each, random));
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  const keys = Object.keys(value);
  for (let at = keys.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [keys[at], keys[other]] = [keys[other], keys[at]];
  }
  return Object.fromEntries(keys.map((key) => [key, shuffledKeys(value[key], random)]));
}

function deepFreeze(value) {
  if (typeof value !== "object" || value === null) return;
  Object.freeze(value);
  for (const each of Object.values(value)) deepFreeze(each);
}
