import { isErrored, isReadable } from "node:stream";

import { runProgram } from "../call/identity/async-stack.js";
import type { RunContext } from "../scope/run-context.js";

/** The error that a stream failed with. */
export interface Failure {
  readonly error: unknown;
}

/** The streams that the function of a run has returned. */
export interface ReturnedStreams {
  /** Resolves when the program does not wait for more of them. */
  idle(): Promise<void>;
}

/**
 * Watches the streams that a value is, or directly contains, until the program has read or left them all: streams,
 * responses, async iterables, results of the AI SDK. Reads run in `context`, so that what they start belongs to the run.
 * The value stays the same object: only methods of this one stream are replaced.
 *
 * @param onEnd called once, at the end of the last stream, with the first failure.
 * @returns `undefined` if there are no unread streams.
 */
export function watchStreams(
  value: unknown,
  context: RunContext,
  onEnd: (failure: Failure | undefined) => void,
): ReturnedStreams | undefined {
  const streams = streamsIn(value);
  if (streams.length === 0) return undefined;
  let open = streams.length;
  let first: Failure | undefined;
  const watches = streams.map(
    (stream) =>
      new Watch(stream, context, (failure) => {
        first ??= failure;
        open -= 1;
        if (open === 0) onEnd(first);
      }),
  );
  return { idle: async () => void (await Promise.all(watches.map((watch) => watch.idle()))) };
}

/** The members of an object that are searched for streams. */
const MAX_MEMBERS = 100;

function streamsIn(value: unknown): object[] {
  try {
    const own = streamOf(value);
    if (own !== undefined) return [own];
    return membersOf(value).flatMap((member) => streamOf(member) ?? []);
  } catch {
    // A proxy or a getter of the program.
    return [];
  }
}

/** Without getters: those of the AI SDK open further streams. */
function membersOf(value: unknown): unknown[] {
  const members: unknown[] = [];
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return members;
  if (Array.isArray(value) && value.length > MAX_MEMBERS) return members;
  for (const name in value) {
    const own = Object.getOwnPropertyDescriptor(value, name);
    if (own !== undefined) members.push(own.value);
    if (members.length === MAX_MEMBERS) break;
  }
  return members;
}

function streamOf(value: unknown): object | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  // Without `instanceof`, which would load Node's fetch in programs that do not use it.
  if (Object.prototype.toString.call(value) === "[object Response]") return streamOf((value as Response).body);
  if (isReadableStream(value)) return value.locked || isFinished(value) ? undefined : value;
  const { readableEnded, destroyed } = value as { readableEnded?: boolean; destroyed?: boolean };
  if (readableEnded === true || destroyed === true) return undefined;
  return typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function" ? value : undefined;
}

function isReadableStream(value: object): value is ReadableStream {
  return "getReader" in value && "tee" in value;
}

/** `null` for a stream of another implementation. */
const canBeRead = isReadable as (stream: unknown) => boolean | null;
const hasFailed = isErrored as (stream: unknown) => boolean;

/**
 * True if the source of the stream has ended. A program that has read the result of an SDK leaves a branch of its stream
 * that nobody has read, and only Node's own state shows that nothing more comes.
 */
function isFinished(stream: ReadableStream): boolean {
  return canBeRead(stream) === false || controlOf(stream)?.closeRequested === true;
}

interface Control {
  readonly closeRequested?: boolean;
  pullAlgorithm?: Method;
}

/** Node's own state of a stream. `undefined` where Node keeps it in another way. */
function controlOf(stream: ReadableStream): Control | undefined {
  const key = Object.getOwnPropertySymbols(stream).find(({ description }) => description === "kState");
  if (key === undefined) return undefined;
  const state = (stream as unknown as Record<symbol, { controller?: Record<symbol, Control | undefined> }>)[key];
  return state?.controller?.[key];
}

const collected = new FinalizationRegistry((dropped: () => void) => dropped());

const iterables = new WeakMap<object, object>();

// Read at load, so that fake timers of a test do not stop it.
const nextMacrotask = setImmediate;

type Method = (...args: unknown[]) => unknown;
type Around = (method: Method, args: unknown[]) => unknown;

/** Watches one stream, and the branches that the program makes of it. Must not refer to them: they could not be collected. */
class Watch {
  readonly #context: RunContext;
  readonly #onEnd: (failure: Failure | undefined) => void;
  /** Stands for the branches that are being read. */
  readonly #reading = new Set<object>();
  #pending = 0;
  #lastRead: Promise<unknown> = Promise.resolve();
  #hasEnded = false;

  constructor(stream: object, context: RunContext, onEnd: (failure: Failure | undefined) => void) {
    this.#context = context;
    this.#onEnd = onEnd;
    // Recorded streams below it are collected too, and end first.
    collected.register(stream, () => void nextMacrotask(() => this.#end()), this);
    if (isReadableStream(stream)) {
      this.#stream(stream);
      // For consumers in Node that read a stream without its methods, such as `Readable.fromWeb`.
      this.#replace(controlOf(stream) ?? {}, "pullAlgorithm", (pull, args) => runProgram(() => pull(...args)));
    } else {
      this.#iterable(stream);
    }
  }

  async idle(): Promise<void> {
    while (this.#pending > 0) {
      await this.#lastRead;
      await new Promise((resolve) => void nextMacrotask(resolve));
    }
  }

  #end(failure?: Failure): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    collected.unregister(this);
    this.#onEnd(failure);
  }

  /** The program has cancelled a branch. Without another one that it reads, this is the end. */
  #leave(branch: object): void {
    this.#reading.delete(branch);
    if (this.#reading.size === 0) this.#end();
  }

  /** `of`: the branch that it belongs to, if the program has made it from the returned stream. */
  #stream(stream: ReadableStream, of?: object): void {
    const branch = of ?? {};
    let isLeft = false;
    // An end by `cancel` counts when the cancellation has reached the source.
    const ended = (failure?: Failure): void => {
      if (!isLeft) this.#end(failure);
    };
    const leave: Around = (cancel, args) => {
      isLeft = true;
      const left = (): void => this.#leave(branch);
      // The cancellation of a single branch does not reach the source, and never resolves.
      if (of !== undefined) nextMacrotask(left);
      return this.#follow(cancel(...args), left, left);
    };
    this.#replace(stream, "cancel", (cancel, args) => (stream.locked ? cancel(...args) : leave(cancel, args)));
    this.#replace(stream, "tee", (tee) => {
      const branches = tee() as [ReadableStream, ReadableStream];
      for (const each of branches) this.#stream(each, {});
      return branches;
    });
    this.#replace(stream, "getReader", (getReader, given) => {
      const reader = getReader(...given) as ReadableStreamDefaultReader;
      this.#reading.add(branch);
      let isReleased = false;
      reader.closed.then(
        () => ended(),
        (error: unknown) => isReleased || ended({ error }),
      );
      this.#replace(reader, "read", (read, args) => this.#waitFor(read(...args)));
      this.#replace(reader, "cancel", (cancel, args) => (isReleased ? cancel(...args) : leave(cancel, args)));
      this.#replace(reader, "releaseLock", (release) => {
        isReleased = true;
        return release();
      });
      return reader;
    });
    this.#replace(stream, "pipeTo", (pipeTo, args) => {
      this.#reading.add(branch);
      const failed = (error: unknown): void => {
        if (hasFailed(stream)) ended({ error });
        // The destination failed, and the stream was cancelled for that.
        else if (canBeRead(stream) === false) this.#leave(branch);
      };
      return this.#waitFor(this.#follow(pipeTo(...args), () => ended(), failed));
    });
    this.#replace(stream, "pipeThrough", (pipeThrough, args) => {
      const [pair, options] = args as [
        { writable?: WritableStream; readable?: ReadableStream }?,
        Parameters<ReadableStream["pipeTo"]>[1]?,
      ];
      const { writable, readable } = pair ?? {};
      const isValid = !stream.locked && writable?.locked === false && readable !== undefined;
      if (!isValid) return pipeThrough(...args);
      stream.pipeTo(writable, options).catch(() => {});
      this.#stream(readable, branch);
      return readable;
    });
    for (const name of ["values", Symbol.asyncIterator]) this.#iterates(stream, name, branch);
  }

  #iterable(iterable: object): void {
    const branch = {};
    // An async generator.
    if ("next" in iterable) this.#iterator(iterable, iterable, branch);
    this.#iterates(iterable, Symbol.asyncIterator, branch);
    // A stream of Node, or of a client that also emits its parts.
    this.#replace(iterable, "_read", (read, args) => read(...args));
    const { once } = iterable as { once?: unknown };
    if (typeof once !== "function" || !("emit" in iterable)) return;
    const ended = (): void => {
      const { errored } = iterable as { errored?: unknown };
      this.#end(errored instanceof Error ? { error: errored } : undefined);
    };
    for (const event of ["end", "close"]) Reflect.apply(once, iterable, [event, ended]);
  }

  #iterates(iterable: object, name: PropertyKey, branch: object): void {
    this.#replace(iterable, name, (iterate, args) => {
      const iterator = iterate(...args) as object;
      if (iterator !== iterable) this.#iterator(iterator, iterable, branch);
      return iterator;
    });
  }

  #iterator(iterator: object, iterable: object, branch: object): void {
    // Keeps the iterable in memory for as long as its iterator.
    iterables.set(iterator, iterable);
    const failed = (error: unknown): void => this.#end({ error });
    for (const name of ["next", "throw", "return"]) {
      const ended = (result: unknown): void => {
        if ((result as IteratorResult<unknown>).done !== true) return;
        if (name === "return") this.#leave(branch);
        else this.#end();
      };
      this.#replace(iterator, name, (call, args) => {
        this.#reading.add(branch);
        // Calls of a generator have a complete chain of awaiters then.
        return this.#waitFor(
          this.#follow(
            runProgram(() => call(...args)),
            ended,
            failed,
          ),
        );
      });
    }
  }

  /** Notes that the program waits for a part of the stream. */
  #waitFor(part: unknown): unknown {
    this.#pending += 1;
    const arrived = (): void => void (this.#pending -= 1);
    this.#lastRead = Promise.resolve(part).then(arrived, arrived);
    return part;
  }

  /** Calls one of the functions before anybody who awaits the result. */
  #follow(result: unknown, done: (value: unknown) => void, failed: (error: unknown) => void): unknown {
    Promise.resolve(result).then(done, failed);
    return result;
  }

  /**
   * Replaces a method of one object. `around` receives the method, bound to the object and the context of the run, and the
   * arguments. After the run, the method is as before.
   */
  #replace(target: object, name: PropertyKey, around: Around): void {
    const method: unknown = Reflect.get(target, name);
    if (typeof method !== "function") return;
    const plain: Method = (...args) => Reflect.apply(method, target, args) as unknown;
    const inRun = this.#context.bind(plain);
    const { scope } = this.#context;
    Reflect.defineProperty(target, name, {
      value: (...args: unknown[]) => (scope.closed ? plain(...args) : around(inRun, args)),
      configurable: true,
      writable: true,
    });
  }
}
