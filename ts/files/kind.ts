// Recognizes the files of the package, so that an error can name the function that reads a file.

export type FileKind = "snapshot" | "trace" | "recording" | "audit log";

/** The functions and commands that read each kind. */
const READERS: Readonly<Record<FileKind, { name: string; library: string; command: string }>> = {
  snapshot: {
    name: "a snapshot",
    library: "readSnapshot(path) or parseSnapshot(text) reads it",
    command: '"agent-rewind inspect" shows it',
  },
  trace: {
    name: "a trace",
    library: "restoreSnapshotFromFile(path) or restoreSnapshot(events) makes a snapshot of it",
    command: '"agent-rewind inspect" shows it, and "agent-rewind restore" makes a snapshot of it',
  },
  recording: {
    name: "the recording of a vitest test",
    library: "only its test replays it",
    command: '"agent-rewind inspect" shows it, and only its test replays it',
  },
  "audit log": {
    name: "an audit log",
    library: "verifyLog(path) of agent-rewind/audit checks it",
    command: '"agent-rewind context verify" checks it',
  },
};

/** A sentence about a file of another kind than the wanted one; `undefined` if it is of that kind or unknown. */
export function wrongKind(
  content: unknown,
  wanted: FileKind,
  readers: "library" | "command" = "library",
): string | undefined {
  const kind = content instanceof Uint8Array || typeof content === "string" ? kindOfText(content) : kindOf(content);
  if (kind === undefined || kind === wanted) return undefined;
  return `this is ${READERS[kind].name}, not ${READERS[wanted].name}: ${READERS[kind][readers]}`;
}

/** The kind of a parsed document, a list of lines, or a first line. */
export function kindOf(value: unknown): FileKind | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof first !== "object" || first === null) return undefined;
  const { format, prev, seq, type, trace, root, provenance } = first as Record<string, unknown>;
  if (format === "agent-rewind recording") return "recording";
  if (typeof prev === "string" && typeof seq === "number") return "audit log";
  if (typeof type === "string" && (type === "gap" || typeof trace === "object")) return "trace";
  return root !== undefined && provenance !== undefined ? "snapshot" : undefined;
}

/** The first line of a long text tells enough, unless it is one long document. */
export function kindOfText(text: string | Uint8Array): FileKind | undefined {
  const whole = typeof text === "string" ? text : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  const end = whole.indexOf("\n", 3);
  return (end < 0 ? undefined : kindOf(parsed(whole.slice(0, end)))) ?? kindOf(parsed(whole));
}

function parsed(text: string | Buffer): unknown {
  try {
    return JSON.parse(text.toString().replace(/^\ufeff/, ""));
  } catch {
    return undefined;
  }
}
