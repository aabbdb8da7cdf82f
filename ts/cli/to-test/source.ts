import { dirname, relative, resolve } from "node:path";

import type { AgentFrameSnapshot, AgentSnapshot, ErrorInfo } from "../../types/snapshot.js";
import { decodeValue } from "../../values/decode.js";
import { UsageError } from "../exit.js";
import { literal } from "./literal.js";

/** An export of a module, as the command line names it: `./agents.ts#writer`. */
export interface Reference {
  readonly file: string;
  readonly name: string;
}

/** @throws UsageError */
export function reference(flag: string, text: string): Reference {
  const at = text.lastIndexOf("#");
  const [file, name] = at < 0 ? [text, "default"] : [text.slice(0, at), text.slice(at + 1)];
  if (file === "" || !/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name))
    throw new UsageError(`${flag} names a file and an export of it, such as ./agents.ts#writer, received "${text}"`);
  return { file, name };
}

export interface TestSource {
  /** The file that is written. */
  readonly target: string;
  readonly testName: string;
  readonly snapshot: AgentSnapshot;
  /** What is called with the recorded props: an agent, which needs a run around it, or what makes the run itself. */
  readonly called: { readonly kind: "agent" | "call"; readonly reference: Reference };
  readonly model: Reference | undefined;
}

/** The source of a test file that makes the run again. */
export function testSource({ target, testName, snapshot, called, model }: TestSource): string {
  const { normalize = [] } = snapshot;
  const names = new Map<string, string>();
  const imported = (wanted: Reference, fallback: string): string => {
    const from = importPath(target, wanted.file);
    // Two exports of one name, or one of a name that the test uses itself.
    const base = wanted.name === "default" ? fallback : wanted.name;
    const own = TAKEN.has(base) || [...names.values()].includes(base) ? `${base}_` : base;
    names.set(`${wanted.name} ${from}`, own);
    const clause =
      wanted.name === "default" ? own : own === wanted.name ? `{ ${own} }` : `{ ${wanted.name} as ${own} }`;
    return `import ${clause} from ${literal(from)};`;
  };
  const nameOf = ({ name, file }: Reference): string => names.get(`${name} ${importPath(target, file)}`) as string;
  const imports = [imported(called.reference, "agent"), ...(model === undefined ? [] : [imported(model, "model")])];
  const isAgent = called.kind === "agent";
  const props = propsOf(snapshot.root);
  const call = `${nameOf(called.reference)}(${props === undefined ? "" : "props"})`;
  const options = model === undefined ? "" : `, { model: ${nameOf(model)} }`;
  const made = isAgent ? `runWith(() => ${call}${options})` : call;
  const rules = normalize
    .map(({ id, definition }) => `\n  // { id: ${literal(id)}, … }: ${comment(definition)}`)
    .join("");
  return [
    `// Made by \`agent-rewind to-test\` of the run ${comment(snapshot.provenance.traceId)}.`,
    ...(isAgent ? ['import { runWith } from "agent-rewind";'] : []),
    normalize.length === 0
      ? 'import { test } from "agent-rewind/vitest";'
      : 'import { recordingTest } from "agent-rewind/vitest";',
    'import { expect } from "vitest";',
    "",
    ...imports,
    "",
    ...(normalize.length === 0
      ? []
      : [
          `// TO DO: put in the rules of \`normalize\` that the run had.\nconst normalize = [${rules}\n];`,
          "const test = recordingTest(undefined, { normalize });",
          "",
        ]),
    `test(${literal(testName)}, async () => {`,
    ...(props === undefined ? [] : [`  const props = ${literal(props.value)};`]),
    `  ${expectation(snapshot.root, made)}`,
    "});",
    "",
  ].join("\n");
}

const TAKEN = new Set(["runWith", "test", "expect", "recordingTest", "normalize", "props"]);

function propsOf({ generation, generations = [] }: AgentFrameSnapshot): { value: unknown } | undefined {
  const { props, propsTypes } = generations[0] ?? generation ?? {};
  if (props === undefined) return undefined;
  return { value: decodeValue(JSON.stringify(props), propsTypes === undefined ? null : JSON.stringify(propsTypes)) };
}

function expectation({ state, outputTypes }: AgentFrameSnapshot, made: string): string {
  if (state.status === "failed") {
    const { name, message } = state.error as ErrorInfo;
    return `await expect(${made}).rejects.toMatchObject(${literal({ name, message })});`;
  }
  const types = outputTypes === undefined ? null : JSON.stringify(outputTypes);
  const output = decodeValue(JSON.stringify(state.output ?? null), types);
  // What gave nothing is recorded as null.
  if (output === null) return `await ${made};`;
  return `expect(await ${made}).toEqual(${literal(output)});`;
}

function importPath(target: string, file: string): string {
  const path = relative(dirname(resolve(target)), resolve(file)).replaceAll("\\", "/");
  return path.startsWith(".") ? path : `./${path}`;
}

/** Text of a recording, which must not end the comment that it stands in. */
function comment(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, " ");
}
