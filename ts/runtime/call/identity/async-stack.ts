// The functions that wait for the code that runs now, up to the frame that it belongs to.

import { fileURLToPath } from "node:url";

/** Deeper code has no complete chain. It bounds the cost of a capture. */
const MAX_FRAMES = 64;
/** Functions may have names of any length. */
const MAX_NAME = 64;
/** The name of {@link runProgram} in stacks, also in those of another copy of the package. */
const PROGRAM = "agentRewindProgram";

/** The names of the functions that wait for each other. */
export interface Lane {
  /**
   * From the inside out. Without lines and columns, which change with every edit. `all[1]` is the second promise of
   * `Promise.all`; `allSettled` and `any` are named in the same way. A function without a name is `anonymous`.
   */
  readonly names: readonly string[];
  /** True if the last function runs the program of a frame. Otherwise an unknown number of names is missing. */
  readonly complete: boolean;
}

interface CallSite {
  getFunctionName(): string | null;
  getFileName(): string | null | undefined;
  getPromiseIndex(): number | null;
  getPosition(): number;
}

/**
 * The stack of a moment. It refers to functions and their receivers, so drop it when it is not needed any more.
 */
export class CapturedStack {
  readonly #error: Error;

  constructor(error: Error) {
    this.#error = error;
  }

  /** The lane of the moment. `undefined` if this process does not let anybody read stacks. */
  lane(): Lane | undefined {
    const sites = sitesOf(this.#error);
    return sites && laneOf(sites, false);
  }

  /** The lane, with the place in the source after each name. Compare it only within this process. */
  placedLane(): Lane | undefined {
    const sites = sitesOf(this.#error);
    return sites && laneOf(sites, true);
  }
}

/** False once `Error` was found to be frozen, as by `--frozen-intrinsics`. */
let readable = true;

/**
 * Captures a stack without formatting it. Call it in short functions, and where few functions have been called since the
 * last await: V8 reads all variables of the functions on the stack, also of those that it has inlined.
 * @returns `undefined` if this process does not let anybody read stacks.
 */
export function captureStack(): CapturedStack | undefined {
  if (!readable) return undefined;
  const limit = Error.stackTraceLimit;
  try {
    Error.stackTraceLimit = MAX_FRAMES;
    const error = new Error();
    Error.stackTraceLimit = limit;
    return new CapturedStack(error);
  } catch {
    readable = false;
    return undefined;
  }
}

/**
 * Calls the program of a frame and awaits it. Its own await is the end of every complete lane, so all frames and runs
 * call their program through it.
 */
export const runProgram: <Result>(enter: () => Result | Promise<Result>) => Promise<Result> = Object.defineProperty(
  async <Result>(enter: () => Result | Promise<Result>): Promise<Result> => await enter(),
  "name",
  { value: PROGRAM },
);

/** V8 formats a stack when it is first read. Other formatters than ours would look up source maps for each frame. */
function sitesOf(error: Error): readonly CallSite[] | undefined {
  if (!readable) return undefined;
  const { prepareStackTrace } = Error;
  const isOwn = Object.hasOwn(Error, "prepareStackTrace");
  try {
    Error.prepareStackTrace = keepSites;
    const stack: unknown = error.stack;
    if (isOwn) Error.prepareStackTrace = prepareStackTrace;
    else Reflect.deleteProperty(Error, "prepareStackTrace");
    return Array.isArray(stack) ? (stack as CallSite[]) : undefined;
  } catch {
    readable = false;
    return undefined;
  }
}

function keepSites(_error: unknown, sites: unknown): unknown {
  return sites;
}

function laneOf(sites: readonly CallSite[], placed: boolean): Lane {
  const names: string[] = [];
  // Most awaiters are in the file of the one before.
  let file: string | null | undefined;
  let internal = false;
  for (const site of sites) {
    const name = site.getFunctionName() ?? "anonymous";
    if (name === PROGRAM) return { names, complete: true };
    const itsFile = site.getFileName();
    if (itsFile !== file) {
      file = itsFile;
      internal = file != null && isInternal(file);
    }
    if (internal) continue;
    const index = file == null ? site.getPromiseIndex() : null;
    if (index !== null) names.push(`${name}[${index}]`);
    else if (placed) names.push(`${name}@${site.getPosition()}`);
    else names.push(name.length > MAX_NAME ? name.slice(0, MAX_NAME) : name);
  }
  return { names, complete: false };
}

/** In `dist`, all files of the package are below this one's folder. */
const OWN_URL = new URL(".", import.meta.url).href;
const OWN_PATH = fileURLToPath(OWN_URL);

function isInternal(file: string): boolean {
  return file.startsWith("node:") || file.startsWith(OWN_URL) || file.startsWith(OWN_PATH);
}
