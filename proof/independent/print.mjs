// Prints a program as JavaScript. `w` is an object of clients.mjs, `t` the place of a thread in the program.

/** @param {import("./generate.mjs").Program} program */
export function print(program) {
  return `async function main(t) {\n${indent(new Printer(program.named).program(program))}\n}`;
}

class Printer {
  #names = 0;

  constructor(named) {
    this.named = named;
  }

  /** The statements of a program, of which the last ones may run when its consumer reads the stream that it returns. */
  program({ steps, returned }) {
    if (returned === undefined) return this.body(steps, "t");
    const lines = steps.map((step, index) => this.step(step, `\${t}.${index}`));
    const parts = lines.slice(returned.from).map((line) => `${line}\nyield w.tell(last);`);
    const generator = `(async function* rest() {\n${indent(`try {\n${indent(parts.join("\n"))}\n} finally {\n  await w.drained();\n}`)}\n})()`;
    return `let last = null;\n${lines.slice(0, returned.from).join("\n")}\nreturn w.returned("${returned.as}", ${generator});`;
  }

  /** The statements of a function. */
  body(steps, t) {
    return `let last = null;\n${this.steps(steps, t)}\nreturn last;`;
  }

  steps(steps, t) {
    return steps.map((step, index) => this.step(step, `\${${t}}.${index}`)).join("\n");
  }

  /** A function whose calls have their own places. */
  fn(steps, name) {
    const head = this.named ? `async function ${name}${(this.#names += 1)}(t)` : "async (t) =>";
    return `${head} {\n${indent(this.body(steps, "t"))}\n}`;
  }

  /** A thread that goes on by itself, and that the end of the program waits for. */
  thread(steps, at, name, nest = 0) {
    const head = this.named ? `async function ${name}${(this.#names += 1)}(t)` : "async (t) =>";
    const body = `w.enter();\ntry {\n${indent(this.body(steps, "t"))}\n} finally {\n  w.leave();\n}`;
    let text = `(${head} {\n${indent(body)}\n})(${quote(at)})`;
    for (let level = 0; level < nest; level++) text = `(async () => await ${text})()`;
    return text;
  }

  step(step, at) {
    return this[step.op](step, at);
  }

  call = (step, at) => this.#call(step, at);
  tool = (step, at) => this.#call(step, at);
  http = (step, at) => this.#call(step, at);
  tries = (step, at) => this.#call(step, at);
  stream = (step, at) => this.#call(step, at);
  nested = (step, at) => this.#call(step, at);
  agent = (step, at) => this.#call(step, at);

  #call({ op, what, plan, inner }, at) {
    const last = inner === undefined ? "" : `, ${this.fn(inner, "inside")}`;
    return `last = await w.${op}(${quote(at)}, ${whatText(what)}, ${JSON.stringify(plan)}${last});`;
  }

  loop({ times, body }, at) {
    const i = `i${(this.#names += 1)}`;
    const t = `t${this.#names}`;
    return `for (let ${i} = 0; ${i} < ${times}; ${i}++) {\n  const ${t} = ${quote(`${at}#\${${i}}`)};\n${indent(this.steps(body, t))}\n}`;
  }

  /** A loop of the program's own that tries again, with nothing that says so. */
  again({ via, what, ms, pause }, at) {
    const i = `i${(this.#names += 1)}`;
    const t = quote(`${at}#\${${i}}`);
    const plan = `{ ms: ${JSON.stringify(ms)}[${i}], fail: ${i} < ${ms.length - 1} ? "always" : "no" }`;
    return (
      `for (let ${i} = 0; ; ${i}++) {\n  try {\n    last = await w.${via}(${t}, ${whatText(what)}, ${plan});\n    break;\n` +
      `  } catch (error) {\n    w.caught(${t}, error);\n    if (${i} === ${ms.length - 1}) throw error;\n    await w.sleep(${pause});\n  }\n}`
    );
  }

  sleep({ ms }) {
    return `await w.sleep(${ms});`;
  }

  frame({ id, input, lives }, at) {
    const parts = lives.map((steps, life) =>
      life === lives.length - 1
        ? this.steps(steps, "t")
        : `if (input.g === ${life}) {\n${indent(this.steps(steps, "t"))}\n  return w.reborn({ ...input, g: ${life + 1} });\n}`,
    );
    const head = this.named ? `async function frame${(this.#names += 1)}(input, t)` : "async (input, t) =>";
    const body = `let last = null;\n${parts.join("\n")}\nreturn last;`;
    return `last = await w.frame(${quote(at)}, ${JSON.stringify({ id, input: { ...input, g: 0 } })}, ${head} {\n${indent(body)}\n});`;
  }

  par({ how, branches, nest = [] }, at) {
    const mark = how === "race" || how === "any" ? "^" : "|";
    const list = branches.map((steps, index) => this.thread(steps, `${at}${mark}${index}`, "branch", nest[index]));
    const text = `[\n${indent(list.join(",\n"))},\n]`;
    if (how === "settled") return `last = w.settled(${quote(at)}, await Promise.allSettled(${text}));`;
    return `last = await Promise.${how}(${text});`;
  }

  guard({ how, body, fallback }, at) {
    const inside = `${at}t`;
    const after = `${at}c`;
    if (how === "settled") {
      return `[last] = w.settled(${quote(at)}, await Promise.allSettled([${this.thread(body, inside, "tried")}]));`;
    }
    if (how === "then") {
      const head = `w.caught(${quote(at)}, error);`;
      const other = `(${this.fn(fallback, "fallback")})(${quote(after)})`;
      return `last = await (${this.fn(body, "tried")})(${quote(inside)}).catch((error) => {\n  ${head}\n  return ${other};\n});`;
    }
    const t = `t${(this.#names += 1)}`;
    const c = `t${(this.#names += 1)}`;
    const rest = fallback.length === 0 ? "" : `  const ${c} = ${quote(after)};\n${indent(this.steps(fallback, c))}\n`;
    return (
      `try {\n  const ${t} = ${quote(inside)};\n${indent(this.steps(body, t))}\n} catch (error) {\n` +
      `  last = w.caught(${quote(at)}, error);\n${rest}}`
    );
  }

  spawn({ body }, at) {
    const steps = [{ op: "guard", how: "catch", body, fallback: [] }];
    return `void ${this.thread(steps, `${at}&`, "spawned")};`;
  }

  early({ what, plan, between }, at) {
    const p = `early${(this.#names += 1)}`;
    const t = `t${this.#names}`;
    return (
      `const ${p} = w.early(${quote(at)}, ${whatText(what)}, ${JSON.stringify(plan)});\n` +
      `const ${t} = ${quote(`${at}b`)};\n${this.steps(between, t)}\n` +
      `try {\n  last = w.saw(${quote(at)}, await ${p});\n} catch (error) {\n  w.failed(${quote(at)}, error);\n  last = w.caught(${quote(at)}, error);\n}`
    );
  }

  /** A slow call that is stopped when a quick one has ended. */
  abort({ how, id, slow, quick }, at) {
    const slowAt = "${t}.s";
    const quickAt = "${t}.q";
    const signal = how === "controller" ? ", stop.signal" : "";
    const slowCall = this.#call(slow, slowAt).replace("last = await ", "return ").replace(/\);$/, `${signal});`);
    const stop =
      how === "controller" ? "const stop = new AbortController();" : "const stop = { abort: w.stopHandle() };";
    const body =
      `${stop}\nlet last = null;\nw.enter();\nconst slow = (async () => {\n  try {\n    ${slowCall}\n  } finally {\n    w.leave();\n  }\n})();\nslow.catch(() => {});\n` +
      `${this.#call(quick, quickAt)}\nstop.abort();\nreturn await slow;`;
    return (
      `try {\n  last = await w.frame(${quote(at)}, ${JSON.stringify({ id, input: { g: 0 } })}, async (input, t) => {\n` +
      `${indent(indent(body))}\n  });\n} catch (error) {\n  last = w.caught(${quote(at)}, error);\n}`
    );
  }
}

const quote = (at) => `\`${at}\``;

function whatText({ prev, ...what }) {
  const text = JSON.stringify(what);
  return prev ? `${text.slice(0, -1)},"prev":w.tell(last)}` : text;
}

function indent(text) {
  return text.replaceAll(/^(?=.)/gm, "  ");
}
