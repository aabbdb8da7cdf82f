// A program of the corpus, and the world that it runs in. The programs are part of the corpus: a change of their requests
// makes every recording of them stale.
import { journalCall, type AgentSnapshot, type RunWithOptions } from "agent-rewind";

export { sleep } from "../support/deferred.js";

export interface Program {
  readonly name: string;
  run(world: World): Promise<unknown>;
  /** Options of every run of the program. */
  options?(world: World): RunWithOptions;
  /** Edits or forks the last dump, as a user would. The result is kept as a file of its own. */
  edit?(snapshot: AgentSnapshot): AgentSnapshot;
  /** Number of runs that each resume the middle of the run before. */
  readonly resumes?: number;
  /** They resume its end instead, so that dumps in their middle contain what was carried over. */
  readonly resumesEnd?: boolean;
  /** A strict replay cannot answer all calls, because a result could not be recorded. */
  readonly goesLive?: boolean;
  /** The replay flag that the program shows: without it, the recordings of the program have another outcome. */
  readonly flag?: number;
}

export class World {
  /** Names of the live calls. */
  readonly made: string[] = [];
  readonly middle: () => void;
  /** 0 for the first recording, then the number of the run in the chain of resumed ones. */
  readonly attempt: number;
  /** True where the program runs over a recording of itself. */
  readonly isRecorded: boolean;
  /** True once the fault that ended the recorded run is repaired. */
  readonly fixed: boolean;

  constructor({ attempt = 0, isRecorded = false, fixed = false, middle = () => {} }: Partial<World> = {}) {
    this.attempt = attempt;
    this.isRecorded = isRecorded;
    this.fixed = fixed;
    this.middle = middle;
  }

  /** A journaled call that counts its live calls. */
  call<T>(name: string, answer: () => T | Promise<T>, request: unknown = {}): Promise<T> {
    return journalCall({ kind: "step", name, request }, () => {
      this.made.push(name);
      return answer();
    }) as Promise<T>;
  }
}

/** A value as JSON in which every type shows. */
export function plain(value: unknown): unknown {
  if (value === undefined) return { $: "undefined" };
  if (typeof value === "bigint") return { $: "bigint", value: String(value) };
  if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))) {
    return { $: "number", value: Object.is(value, -0) ? "-0" : String(value) };
  }
  if (typeof value === "function") return { $: "function" };
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Date) return { $: "date", value: value.getTime() };
  if (value instanceof URL) return { $: "url", value: value.href };
  if (value instanceof Map) return { $: "map", value: [...value].map(plain) };
  if (value instanceof Set) return { $: "set", value: [...value].map(plain) };
  if (value instanceof Uint8Array) return { $: value.constructor.name, value: [...value] };
  if (value instanceof Error) return { $: "error", ...failure(value) };
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

/** The parts of an error that a program can rely on. The texts of this package's own errors may change. */
export function failure(error: unknown): object {
  if (typeof error !== "object" || error === null) return { thrown: plain(error) };
  const { name, message, code, reason, cause, errors } = error as AggregateError & { code?: unknown; reason?: unknown };
  if (typeof code === "string" && code.startsWith("ERR_REWIND_"))
    return { name, code, ...(reason === undefined ? {} : { reason: plain(reason) }) };
  return {
    name,
    message,
    ...(code === undefined ? {} : { code: plain(code) }),
    ...(cause === undefined ? {} : { cause: failure(cause) }),
    ...(errors === undefined ? {} : { errors: errors.map(failure) }),
  };
}
