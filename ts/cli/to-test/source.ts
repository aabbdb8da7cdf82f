import { dirname, relative, resolve } from "node:path";

import type { ListedFrame } from "../../snapshot/read-model.js";
import type { AgentSnapshot, ErrorInfo } from "../../types/snapshot.js";
import { decodeValue } from "../../values/decode.js";
import { UsageError } from "../exit.js";
import { literal } from "./literal.js";
import { comment, rulesSource } from "./rules.js";

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
  /** The test file. */
  readonly target: string;
  readonly testName: string;
  readonly snapshot: Omit<AgentSnapshot, "root">;
  /** The frame of the run. */
  readonly root: ListedFrame;
  /** The export that is called with the recorded props: an agent, or a function that starts the run itself. */
  readonly called: { readonly kind: "agent" | "call"; readonly reference: Reference };
  readonly model: Reference | undefined;
}

/** The source of a test file that executes the run again. */
export function testSource({ target, testName, snapshot, root, called, model }: TestSource): string {
  const { normalize, redact } = rulesSource(snapshot);
  const names = new Map<string, string>();
  const imported = (wanted: Reference, fallback: string): string => {
    const from = importPath(target, wanted.file);
    // The name may be imported twice or used by the test itself.
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
  const props = propsOf(root);
  const call = `${nameOf(called.reference)}(${props === undefined ? "" : "props"})`;
  const options = [
    ...(model === undefined ? [] : [`model: ${nameOf(model)}`]),
    ...(redact === undefined ? [] : ["redact"]),
  ];
  const given = options.length === 0 ? "" : `, { ${options.join(", ")} }`;
  const made = isAgent ? `runWith(() => ${call}${given})` : call;
  const declared = [
    ...(normalize === undefined
      ? []
      : [`const normalize = ${normalize};`, "const test = recordingTest(undefined, { normalize });"]),
    // A function that starts the run itself sets its own redaction.
    ...(redact === undefined || !isAgent ? [] : [`const redact = ${redact};`]),
  ];
  return [
    `// Made by \`agent-rewind to-test\` of the run ${comment(snapshot.provenance.traceId)}.`,
    ...(isAgent ? ['import { runWith } from "agent-rewind";'] : []),
    normalize === undefined
      ? 'import { test } from "agent-rewind/vitest";'
      : 'import { recordingTest } from "agent-rewind/vitest";',
    'import { expect } from "vitest";',
    "",
    ...imports,
    "",
    ...declared,
    ...(declared.length === 0 ? [] : [""]),
    `test(${literal(testName)}, async () => {`,
    ...(props === undefined ? [] : [`  const props = ${literal(props.value)};`]),
    `  ${expectation(root, made)}`,
    "});",
    "",
  ].join("\n");
}

const TAKEN = new Set(["runWith", "test", "expect", "recordingTest", "normalize", "redact", "props"]);

function propsOf({ generations: [first] }: ListedFrame): { value: unknown } | undefined {
  const { props, propsTypes } = first ?? {};
  if (props === undefined) return undefined;
  return { value: decodeValue(JSON.stringify(props), propsTypes === undefined ? null : JSON.stringify(propsTypes)) };
}

function expectation({ state, outputTypes }: ListedFrame, made: string): string {
  if (state.status === "failed") {
    const { name, message } = state.error as ErrorInfo;
    return `await expect(${made}).rejects.toMatchObject(${literal({ name, message })});`;
  }
  const types = outputTypes === undefined ? null : JSON.stringify(outputTypes);
  const output = decodeValue(JSON.stringify(state.output ?? null), types);
  // `undefined` is recorded as null.
  if (output === null) return `await ${made};`;
  return `expect(await ${made}).toEqual(${literal(output)});`;
}

function importPath(target: string, file: string): string {
  const path = relative(dirname(resolve(target)), resolve(file)).replaceAll("\\", "/");
  return path.startsWith(".") ? path : `./${path}`;
}
