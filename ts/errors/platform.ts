import { hasName, isError, named, RewindError } from "./base.js";

/** The native addon could not be loaded; `cause` is why. */
export class NativeMissingError extends RewindError {
  static {
    named(this, "NativeMissingError");
  }

  readonly platform: string;
  readonly arch: string;
  /** C library, on Linux only. */
  readonly libc: "glibc" | "musl" | undefined;
  /** The package that holds the addon for this machine. */
  readonly packageName: string;

  constructor(cause: unknown) {
    const { platform, arch } = process;
    const libc = platform === "linux" ? linuxLibc() : undefined;
    const packageName = `agent-rewind-${[platform, arch, abi(platform, libc)].filter(Boolean).join("-")}`;
    const machine = [platform, arch, libc].filter(Boolean).join(" ");
    const reasons = loadErrors(cause);
    super(
      `The native addon for ${machine} ${reasons.length === 0 ? "was not found" : `could not be loaded: ${reasons.join("; ")}`}. ` +
        (isLoaderMissing(cause)
          ? 'Its loader, "native/binding.cjs", is not where the package has it: ' +
            'a bundler has to leave "agent-rewind" out of the bundle, as an external package.'
          : `Install the package "${packageName}", if there is one for this machine; ` +
            "package managers leave it out when optional dependencies are switched off, " +
            "or when node_modules was made on another machine."),
      "ERR_REWIND_NATIVE_MISSING",
      { cause },
    );
    this.platform = platform;
    this.arch = arch;
    this.libc = libc;
    this.packageName = packageName;
  }
}

export function isNativeMissingError(value: unknown): value is NativeMissingError {
  return hasName(value, "NativeMissingError");
}

/** The package brings the loader, so its own files are not where they were. */
function isLoaderMissing(cause: unknown): boolean {
  return isError(cause) && /^Cannot find module '[^'\n]*native\/binding\.cjs'/.test(cause.message);
}

/** Why files that were there could not be loaded. That others were not there says nothing: the loader tries many. */
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
    // Else the report looks up the names of all connected hosts.
    report.excludeNetwork = true;
    const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
    return header?.glibcVersionRuntime === undefined ? "musl" : "glibc";
  } catch {
    return undefined;
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}

/** Last part of the name of a platform's package. */
function abi(platform: string, libc: string | undefined): string | undefined {
  if (platform === "win32") return "msvc";
  return libc === "glibc" ? "gnu" : libc;
}
