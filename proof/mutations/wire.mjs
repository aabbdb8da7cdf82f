// Changes requests of real clients as they were on the wire, one thing at a time.
import { VOLATILE_PARTS } from "agent-rewind/integration";

import { Random } from "../lib/random.mjs";
import { SENT, recordingOf } from "../wire/requests.mjs";
import { mutateAnywhere } from "./values.mjs";

const BIG_NUMBERS =
  '{"id":154284075601887489,"price":0.1000000000000000055,"n":1e400,"model":"a","model":"m","zero":-0}';

/** The headers of these clients that choose the answer. `accept: *\/*` is what every client sends that names no type. */
const COUNTED = new Set(["accept", "content-type", "anthropic-version", "openai-organization"]);
const MORE_HEADERS = {
  range: "bytes=0-9",
  "accept-language": "de",
  "api-version": "2026-01-01",
  "openai-beta": "assistants=v2",
  "openai-project": "p",
  "anthropic-beta": "files",
  "x-tenant": "1",
  "x-feature": "a",
  cookie: "session=1",
  "x-session-token": "one",
  "if-none-match": '"1"',
  prefer: "wait",
  "x-goog-user-project": "p",
  "x-amzn-bedrock-trace": "ENABLED",
  "last-event-id": "4",
  "mcp-session-id": "s",
};

/** Changes that make a request another one. Each returns its place, or `undefined` if it does not fit the request. */
const KINDS = {
  "URL, path": (request, random) => changeUrl(request, (url) => (url.pathname = otherLetters(url.pathname, random))),
  "URL, one parameter more": (request, random) =>
    changeUrl(request, (url) => url.searchParams.append(random.pick(["q", "key", "token", "sig", "alt"]), "1")),
  "URL, host": (request) => changeUrl(request, (url) => (url.hostname = `${url.hostname}x`)),
  "URL, port": (request) => changeUrl(request, (url) => (url.port = "8081")),
  "URL, scheme": (request) => changeUrl(request, (url) => (url.protocol = "https:")),
  method: (request, random) => (request.method = random.pick(["PUT", "PATCH", "post2"])),
  "header, one more": (request, random) => {
    const name = random.pick(Object.keys(MORE_HEADERS));
    request.headers.push([name, MORE_HEADERS[name]]);
    return name;
  },
  "header, value": (request, random) =>
    changeHeader(request, random, (header) => [[header[0], otherLetters(header[1], random)]]),
  "header, one less": (request, random) => changeHeader(request, random, () => []),
  "header, twice": (request, random) => changeHeader(request, random, (header) => [header, header]),
  "body, JSON value": (request, random) => {
    const value = jsonOf(request.body);
    if (value === undefined || request.body.toString() === BIG_NUMBERS) return undefined;
    const mutated = mutateAnywhere(value, random);
    request.body = Buffer.from(JSON.stringify(mutated.value));
    return sameJson(jsonOf(request.body), value) ? undefined : `${mutated.where}: ${mutated.how}`;
  },
  "body, one byte": (request, random) => {
    const at = random.below(request.body.length);
    const value = jsonOf(request.body);
    request.body[at] = random.below(128);
    return value === undefined || sameJson(jsonOf(request.body), value) ? undefined : `byte ${at}`;
  },
  "body, digits beyond a double": (request, random) => {
    if (request.body.toString() !== BIG_NUMBERS) return undefined;
    const [from, to] = random.pick([
      ["489", "488"],
      ["0055", "0056"],
      ["1e400", "2e400"],
      ['"model":"a",', ""],
      ["-0", "0"],
    ]);
    request.body = Buffer.from(BIG_NUMBERS.replace(from, to));
    return `${from} as ${to}`;
  },
  "form, file and fields": (request, random) => {
    const [from, to] = random.pick([
      ["file.bin", "file2.bin"],
      ["file.bin", "File.bin"],
      ["application/x-data", "application/x-datb"],
      ['name="file"', 'name="files"'],
      ['name="purpose"', 'name="purposes"'],
      ["assistants", "assistant"],
      ["\xff\r\n--\x80", "\xff\r\n--\x81"],
      ["\xff\r\n--\x80", "\xff\r\n--"],
      ["\0\xff\r\n", "\0\xff\n"],
    ]);
    const text = request.body.toString("latin1");
    if (!text.includes("filename=")) return undefined;
    if (!text.includes(from)) throw new Error(`the form lacks ${JSON.stringify(from)}`);
    request.body = Buffer.from(text.replace(from, to), "latin1");
    return JSON.stringify(from);
  },
};

/** Changes that keep it the same request. They return as above. */
const VOLATILE = {
  "header of the list": (request, random) => {
    const listed = random.pick([...VOLATILE_PARTS.headers, ...VOLATILE_PARTS.credentials]);
    const name = listed.replace("*", random.pick(["a", "os", "trace-id"]));
    const others = request.headers.filter(([other]) => other.toLowerCase() !== name);
    request.headers = random.chance(0.3) ? others : [...others, [name, `value ${random.below(1e9)}`]];
    return name;
  },
  "headers of the list, all of them": (request, random) => {
    const isListed = ([name]) => !COUNTED.has(name.toLowerCase()) && !(name.toLowerCase() in VOLATILE_PARTS.defaults);
    request.headers = request.headers.map((header) =>
      isListed(header) ? [header[0], `v${random.below(1e9)}`] : header,
    );
    return "all";
  },
  "value that a layer adds": (request, random) => {
    const [name, values] = random.pick(Object.entries(VOLATILE_PARTS.defaults));
    if (request.headers.some(([other]) => other.toLowerCase() === name)) return undefined;
    request.headers.push([name, random.pick(values)]);
    return name;
  },
  "URL parameter of the list": (request, random) =>
    changeUrl(request, (url) => url.searchParams.set(random.pick(VOLATILE_PARTS.parameters), `${random.below(1e9)}`)),
  "headers, order and case": (request, random) => {
    const anyCase = (name) => (random.chance(0.5) ? name.toUpperCase() : name.toLowerCase());
    request.headers = shuffled(request.headers, random).map(([name, value]) => [anyCase(name), value]);
    return "all";
  },
  "form, boundary": (request, random) => {
    const boundary = boundaryOf(request);
    if (boundary === undefined) return undefined;
    const other = `----form-${random.below(1e9)}`;
    request.headers = request.headers.map(([name, value]) => [name, value.replace(boundary, other)]);
    request.body = Buffer.from(request.body.toString("latin1").replaceAll(boundary, other), "latin1");
    return boundary;
  },
};

/**
 * @typedef {{ kind: string, tried: number, right: number }} Row
 * @param {{ mutations: number, equivalents: number, seed: string | number }} options
 * @returns {Promise<{ clients: string[], listLength: number, rows: Row[], same: Row[], failures: string[] }>} every row
 *   must be right each time: `rows` have missed, `same` are answered
 */
export async function auditWire({ mutations, equivalents, seed }) {
  const newest = SENT.filter(({ client, version, node }, index) =>
    SENT.slice(index + 1).every(
      (later) => later.client !== client || (later.version === version && later.node === node),
    ),
  );
  const big = { ...newest[0], client: "json-bigint", url: `${newest[0].url}/big`, body: Buffer.from(BIG_NUMBERS) };
  const requests = [...newest, big];
  const send = await recordingOf(requests);
  const failures = [];
  const draw = async (table, count, wanted) => {
    const rows = new Map(Object.keys(table).map((kind) => [kind, { kind, tried: 0, right: 0 }]));
    for (let number = 0; number < count; number++) {
      const random = new Random(seed, wanted, number);
      const kind = random.pick(Object.keys(table));
      const { index, request, where } = changed(requests, table[kind], random);
      const outcome = await send(request, index);
      const row = rows.get(kind);
      row.tried += 1;
      if (outcome === wanted) row.right += 1;
      else failures.push(`${request.client}, ${kind}, ${where}: ${outcome}`);
    }
    return [...rows.values()];
  };
  const rows = await draw(KINDS, mutations, "missed");
  const same = await draw(VOLATILE, equivalents, "answered");
  const { headers, credentials, parameters, defaults } = VOLATILE_PARTS;
  const listLength = [headers, credentials, parameters, Object.values(defaults).flat()].flat().length;
  return { clients: requests.map(({ client }) => client), listLength, rows, same, failures };
}

/** A request that the change fits, changed. */
function changed(requests, change, random) {
  for (;;) {
    const index = random.below(requests.length);
    const { headers, body, ...rest } = requests[index];
    const request = { ...rest, headers: [...headers], body: Buffer.from(body) };
    const where = change(request, random);
    if (where !== undefined) return { index, request, where };
  }
}

function changeUrl(request, change) {
  const url = new URL(request.url);
  change(url);
  request.url = url.href;
  return request.url;
}

function changeHeader(request, random, change) {
  const counted = request.headers.filter(([name, value]) => COUNTED.has(name.toLowerCase()) && value !== "*/*");
  if (counted.length === 0) return undefined;
  const chosen = random.pick(counted);
  const isBoundary = chosen[1].includes("boundary=");
  request.headers = request.headers.flatMap((header) => (header === chosen ? change(header) : [header]));
  // A boundary does not count, so no change of it may be drawn.
  return isBoundary ? undefined : chosen[0];
}

/** Changes, adds or removes a letter. */
function otherLetters(text, random) {
  const letters = Array.from(text.matchAll(/[a-z]/gi), ({ index }) => index);
  if (letters.length === 0) return `${text}x`;
  const at = random.pick(letters);
  const letter = text[at];
  const other = random.pick([letter === "q" ? "w" : "q", "", `${letter}${letter}`]);
  return text.slice(0, at) + other + text.slice(at + 1);
}

function shuffled(list, random) {
  const keyed = list.map((item) => ({ item, key: random.next() }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item);
}

function jsonOf(body) {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function sameJson(left, right) {
  return JSON.stringify(sorted(left)) === JSON.stringify(sorted(right));
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}

function boundaryOf({ headers }) {
  return headers.map(([, value]) => /boundary=(.+)$/.exec(value)?.[1]).find((found) => found !== undefined);
}
