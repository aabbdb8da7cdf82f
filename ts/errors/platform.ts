import { isError, named, RewindError, type ErrorGuard } from "./base.js";

/** The native addon could not be loaded; `cause` is the reason. */
export class NativeMissingError extends RewindError {
  readonly platform: string;
  readonly arch: string;
  /** C library, on Linux only. */
  readonly libc: "glibc" | "musl" | undefined;
  /** The package with the addon for this machine. */
  readonly packageName: string;

  /** The options are the version of this package and the names of its platform packages, as far as known. */
  constructor(cause: unknown, { version, packages = [] }: { version?: string; packages?: readonly string[] } = {}) {
    const { platform, arch } = process;
    const libc = platform === "linux" ? linuxLibc() : undefined;
    const packageName = `agent-rewind-${[platform, arch, abi(platform, libc)].filter(Boolean).join("-")}`;
    const machine = [platform, arch, libc].filter(Boolean).join(" ");
    const reasons = loadErrors(cause);
    const install = `Run "npm install ${packageName}${version === undefined ? "" : `@${version}`}".`;
    const why =
      reasons.length > 0
        ? `could not be loaded: ${reasons.join("; ")}. ${install} If it fails again, report the reason.`
        : isLoaderMissing(cause)
          ? 'was not found. The file "native/binding.cjs" of the package is missing. ' +
            'If the program is bundled, mark "agent-rewind" as external in the bundler.'
          : packages.length > 0 && !packages.includes(packageName)
            ? `does not exist. This version has addons for ${packages.map((name) => name.replace("agent-rewind-", "")).join(", ")}.`
            : `was not found. ${install} Package managers skip this package if optional dependencies are disabled, ` +
              "or if node_modules was installed on another machine.";
    super(`The native addon for ${machine} ${why}`, "ERR_REWIND_NATIVE_MISSING", { cause });
    this.platform = platform;
    this.arch = arch;
    this.libc = libc;
    this.packageName = packageName;
  }
}

export const isNativeMissingError: ErrorGuard<NativeMissingError> = named(NativeMissingError, "NativeMissingError");

/** True if the package's own loader is missing, which happens if the package was bundled. */
function isLoaderMissing(cause: unknown): boolean {
  return isError(cause) && /^Cannot find module '[^'\n]*native\/binding\.cjs'/.test(cause.message);
}

/** The errors of addon files that exist. Missing files are expected, because the loader tries many. */
function loadErrors(cause: unknown): string[] {
  const messages: string[] = [];
  for (let error = cause; isError(error) && messages.length < 16; error = error.cause)
    messages.push((error.message.split("\n", 1)[0] ?? "").replace(/\.$/, ""));
  return messages.filter((message) => !/^Cannot find (?:module|native binding)/.test(message));
}

function linuxLibc(): "glibc" | "musl" | undefined {
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean };
  const { excludeNetwork = false } = report;
  try {
    // Otherwise the report resolves the names of all connected hosts.
    report.excludeNetwork = true;
    const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
    return header?.glibcVersionRuntime === undefined ? "musl" : "glibc";
  } catch {
    return undefined;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

/** Last part of the name of a platform package. */
function abi(platform: string, libc: string | undefined): string | undefined {
  if (platform === "win32") return "msvc";
  return libc === "glibc" ? "gnu" : libc;
}

/** This runtime cannot record a program that is not changed for it. */
export class UnsupportedNodeError extends RewindError {
  /** The runtime and its version, such as "Node.js 20.19.0". */
  readonly runtime: string;

  constructor(runtime: string, entryPoint: string) {
    super(
      `${entryPoint} needs Node.js 22.15 or later, and this is ${runtime}. Use a newer Node.js, or wrap the clients of the ` +
        "program: https://github.com/agent-rewind/agent-rewind/blob/main/docs/clients.md",
      "ERR_REWIND_UNSUPPORTED_NODE",
    );
    this.runtime = runtime;
  }
}

export const isUnsupportedNodeError: ErrorGuard<UnsupportedNodeError> = named(
  UnsupportedNodeError,
  "UnsupportedNodeError",
);
