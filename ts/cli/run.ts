import { readFileSync } from "node:fs";
import { parseArgs, type ParseArgsConfig } from "node:util";

import { messageOf } from "../errors/base.js";
import { printable } from "../errors/printable.js";
import { isNativeMissingError } from "../errors/platform.js";
import { defined } from "../values/defined.js";
import { EXIT, InputError, UsageError } from "./exit.js";
import { Output, type Outputs } from "./output.js";
import { USAGE, usageOf } from "./usage.js";

type Flags = Record<string, string | boolean | readonly string[] | undefined>;

/** Runs a command line. Returns the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const outputs = { out: new Output(process.stdout), err: new Output(process.stderr) };
  const code = await dispatch(args, outputs).catch(async (error: unknown): Promise<number> => {
    const { err } = outputs;
    const isUsage = error instanceof UsageError;
    const isKnown = isUsage || error instanceof InputError;
    const text =
      isKnown || isNativeMissingError(error)
        ? messageOf(error)
        : error instanceof Error
          ? (error.stack ?? error.message)
          : String(error);
    // File names and file contents may contain control characters.
    await err.line(`${err.style("red", "agent-rewind:")} ${printable(text, "\n")}`);
    if (isUsage) await err.line('Try "agent-rewind --help".');
    return isUsage ? EXIT.usage : isKnown ? EXIT.input : EXIT.internal;
  });
  await outputs.out.flush();
  const { failure } = outputs.out;
  if (failure !== undefined) await outputs.err.line(`agent-rewind: standard output: ${messageOf(failure)}`);
  await outputs.err.flush();
  return failure === undefined ? code : EXIT.input;
}

async function dispatch(args: readonly string[], outputs: Outputs): Promise<number> {
  const [command, ...rest] = args;
  if (command === undefined || command === "--help" || command === "-h" || command === "help") {
    await outputs.out.raw(USAGE);
    return EXIT.ok;
  }
  if (command === "--version") {
    await outputs.out.line(version());
    return EXIT.ok;
  }
  const handler = COMMANDS[command];
  if (handler === undefined || !Object.hasOwn(COMMANDS, command)) throw new UsageError(`unknown command "${command}"`);
  const [flags] = splitAtDashes(rest);
  if (flags.includes("--help") || flags.includes("-h")) {
    await outputs.out.raw(usageOf(command));
    return EXIT.ok;
  }
  return handler(rest, outputs);
}

type Handler = (args: readonly string[], outputs: Outputs) => Promise<number>;

// The commands are imported when they run, so that the help needs no addon.
const COMMANDS: Readonly<Record<string, Handler>> = {
  async run(args, { err }) {
    const { own, command } = atDashes("run", args);
    const { flags } = parsed("run", own, 0, 0, {
      output: { type: "string", short: "o" },
      "ignore-host": { type: "string", multiple: true },
      "no-redact": { type: "boolean" },
    });
    const { recordProgram } = await import("./commands/program.js");
    const ignored = (flags["ignore-host"] ?? []) as string[];
    return recordProgram(
      command,
      { output: flags.output as string | undefined, ignored, keeps: flags["no-redact"] === true },
      err,
    );
  },
  async replay(args, { err }) {
    const { own, command } = atDashes("replay", args);
    const { files, flags } = parsed("replay", own, 1, 1, {
      output: { type: "string", short: "o" },
      resume: { type: "boolean" },
      "allow-host": { type: "string", multiple: true },
      "ignore-host": { type: "string", multiple: true },
    });
    if (flags.output !== undefined && flags.resume !== true) throw new UsageError("-o needs --resume");
    const { replayProgram } = await import("./commands/program.js");
    return replayProgram(
      files[0] as string,
      command,
      {
        output: flags.output as string | undefined,
        resume: flags.resume === true,
        allowed: (flags["allow-host"] ?? []) as string[],
        ignored: (flags["ignore-host"] ?? []) as string[],
      },
      err,
    );
  },
  async inspect(args, outputs) {
    const { files, flags, json } = parsed("inspect", args, 1, 1, {
      why: { type: "boolean" },
      ids: { type: "boolean" },
      failed: { type: "boolean" },
      depth: { type: "string" },
      grep: { type: "string" },
      trace: { type: "string" },
    });
    const { depth, grep, trace: traceId } = flags as Record<string, string | undefined>;
    if (depth !== undefined && !/^\d{1,4}$/.test(depth))
      throw new UsageError(`--depth must be a number of levels, received "${depth}"`);
    const { inspect } = await import("./commands/inspect.js");
    const { why, ids, failed } = { why: flags.why === true, ids: flags.ids === true, failed: flags.failed === true };
    const levels = depth === undefined ? undefined : Number(depth);
    return inspect(files[0] as string, outputs, {
      json,
      why,
      ids,
      failed,
      ...defined({ depth: levels, grep, traceId }),
    });
  },
  async show(args, { out }) {
    const { files, flags, json } = parsed("show", args, 2, 2, {
      delta: { type: "boolean" },
      raw: { type: "boolean" },
      against: { type: "string" },
      trace: { type: "string" },
    });
    const { against, trace: traceId } = flags as Record<string, string | undefined>;
    const { show } = await import("./commands/show.js");
    const options = { json, delta: flags.delta === true, raw: flags.raw === true, ...defined({ against, traceId }) };
    return show(files[0] as string, files[1] as string, out, options);
  },
  async restore(args, outputs) {
    const { files, flags, json } = parsed("restore", args, 1, 1, {
      span: { type: "string" },
      anchor: { type: "string" },
      trace: { type: "string" },
      output: { type: "string", short: "o" },
    });
    const { span, anchor, trace, output } = flags as Record<string, string | undefined>;
    if (anchor !== undefined && anchor !== "before" && anchor !== "after")
      throw new UsageError(`--anchor must be "before" or "after", received "${anchor}"`);
    if (anchor !== undefined && span === undefined) throw new UsageError("--anchor needs --span");
    const { restore } = await import("./commands/restore.js");
    return restore(files[0] as string, output, defined({ spanId: span, anchor, traceId: trace }), outputs, json);
  },
  async diff(args, { out }) {
    const options = { trace: { type: "string", multiple: true } } as const;
    const { files, flags, json } = parsed("diff", args, 2, 2, options);
    const traces = (flags.trace ?? []) as string[];
    if (traces.length > 2) throw new UsageError(`diff takes --trace once or twice, received ${traces.length}`);
    const { diff } = await import("./commands/diff.js");
    return diff(files as [string, string], traces, out, json);
  },
  async hash(args, { out }) {
    const { files, json } = parsed("hash", args, 1);
    const { hash } = await import("./commands/hash.js");
    return hash(files, out, json);
  },
  async "to-test"(args, outputs) {
    const { files, flags, json } = parsed("to-test", args, 1, 1, {
      output: { type: "string", short: "o" },
      agent: { type: "string" },
      call: { type: "string" },
      model: { type: "string" },
      name: { type: "string" },
      trace: { type: "string" },
    });
    const { toTest } = await import("./commands/to-test.js");
    return toTest(files[0] as string, flags, outputs, json);
  },
  async runs([command = "", ...args], { out }) {
    const { runs, RUN_OPTIONS } = await import("./commands/runs.js");
    const own = Object.hasOwn(RUN_OPTIONS, command) ? RUN_OPTIONS[command] : undefined;
    if (own === undefined)
      throw new UsageError('runs needs a subcommand: "list", "show", "settle", "prune" or "export"');
    const withValue = own.map((name) => [name, { type: "string", ...(name === "file" && { short: "o" }) }] as const);
    const options = {
      store: { type: "string" },
      "not-done": { type: "boolean" },
      ...Object.fromEntries(withValue),
    } as const;
    const { files, flags, json } = parsed(`runs ${command}`, args, 0, Infinity, options);
    return runs(command, files, flags, out, json);
  },
  async context([command, ...args], outputs) {
    const handler = command === undefined || !Object.hasOwn(CONTEXT, command) ? undefined : CONTEXT[command];
    if (handler === undefined) throw new UsageError('context needs a subcommand: "show", "verify" or "diff"');
    return handler(args, outputs);
  },
};

const CONTEXT: Readonly<Record<string, Handler>> = {
  async show(args, outputs) {
    const { files, json } = parsed("context show", args, 1);
    const { showContext } = await import("./commands/context/show.js");
    return showContext(files, outputs, json);
  },
  async verify(args, outputs) {
    const { files, flags, json } = parsed("context verify", args, 1, Infinity, {
      head: { type: "string" },
      "key-file": { type: "string" },
      "key-env": { type: "string" },
      partial: { type: "boolean" },
    });
    const { head, partial, "key-file": keyFile, "key-env": keyEnv } = flags as Flags & Record<string, never>;
    const { verifyContext } = await import("./commands/context/verify.js");
    return verifyContext(files, { head, partial, keyFile, keyEnv }, outputs, json);
  },
  async diff(args, outputs) {
    const { files, json } = parsed("context diff", args, 2);
    const { diffContext } = await import("./commands/context/diff.js");
    return diffContext(files, outputs, json);
  },
};

/** The arguments before and after "--". */
function splitAtDashes(args: readonly string[]): [own: readonly string[], command: readonly string[]] {
  const at = args.indexOf("--");
  return at === -1 ? [args, []] : [args.slice(0, at), args.slice(at + 1)];
}

function atDashes(
  name: string,
  args: readonly string[],
): { own: readonly string[]; command: readonly [string, ...string[]] } {
  const [own, [program, ...rest]] = splitAtDashes(args);
  if (program === undefined) throw new UsageError(`${name} needs a command: agent-rewind ${name} … -- node agent.mjs`);
  return { own, command: [program, ...rest] };
}

function parsed(
  command: string,
  args: readonly string[],
  least: number,
  most = Infinity,
  options: NonNullable<ParseArgsConfig["options"]> = {},
): { files: string[]; flags: Flags; json: boolean } {
  let result: { values: object; positionals: string[] };
  try {
    const config = {
      args: [...args],
      allowPositionals: true,
      options: { json: { type: "boolean" }, ...options },
    } as const;
    result = parseArgs(config);
  } catch (cause) {
    // The rest of Node's message is about file names that begin with a dash.
    const [message] = messageOf(cause).split(". To specify ");
    throw new UsageError(`${command}: ${message}`, { cause });
  }
  const { positionals } = result;
  const { json, ...flags } = result.values as Flags;
  if (positionals.length < least || positionals.length > most) {
    const wanted = least === most ? String(least) : `at least ${least}`;
    throw new UsageError(
      command === "show"
        ? `show takes a file and the name of a call, received ${positionals.length} arguments`
        : `${command} takes ${wanted} ${least === 1 ? "file" : "files"}, received ${positionals.length}`,
    );
  }
  if (positionals.filter((file) => file === "-").length > 1)
    throw new UsageError(`${command}: standard input can be used only once`);
  return { files: positionals, flags, json: json === true };
}

function version(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
