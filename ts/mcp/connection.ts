import { McpCallEndedError } from "../errors/mcp.js";
import { asTransport, outsideOfRuns, type RunContext } from "../integration/index.js";
import {
  isNotification,
  isRequest,
  PROGRESS,
  progressToken,
  recordNotification,
  type Id,
  type Message,
  type NotificationMessage,
  type RecordedNotification,
  type RequestMessage,
  type ResponseMessage,
} from "./messages.js";
import type { Transport } from "./transport.js";

/** The response to a request, and the notifications before it. */
export interface LiveAnswer {
  readonly response: ResponseMessage;
  readonly before: RecordedNotification[];
}

/** A request that is in flight. */
interface Pending {
  readonly message: RequestMessage;
  /** The context of the caller. */
  readonly caller: RunContext;
  /** The context inside the journaled call, for requests of the server that belong to it. */
  readonly inside: RunContext | undefined;
  readonly before: RecordedNotification[];
  readonly resolve: (answer: LiveAnswer) => void;
  readonly reject: (error: unknown) => void;
}

export interface Listener {
  message(message: Message, extra: unknown, context: RunContext | undefined): void;
  closed(): void;
  failed(error: Error): void;
}

/** The handshake that a recording answered. It is repeated with the server if the server is needed later. */
interface Greeting {
  initialize?: RequestMessage;
  protocolVersion?: string;
  initialized?: NotificationMessage;
}

/** The connection to the server. It is started by the first request that the recording does not answer. */
export class Connection {
  readonly greeting: Greeting = {};
  readonly #transport: Transport;
  readonly #listener: Listener;
  readonly #pending = new Map<Id, Pending>();
  #unassigned: RecordedNotification[] = [];
  #starting: Promise<void> | undefined;
  #greeting: { id: Id; done: (response: ResponseMessage) => void } | undefined;

  constructor(transport: Transport, listener: Listener) {
    this.#transport = transport;
    this.#listener = listener;
  }

  /** True once the connection is open or opening. */
  get begun(): boolean {
    return this.#starting !== undefined;
  }

  start(): Promise<void> {
    // The connection outlives the call that starts it, so its callbacks must not run in the context of that call.
    this.#starting ??= outsideOfRuns(() => asTransport(() => this.#start()));
    return this.#starting;
  }

  async #start(): Promise<void> {
    const transport = this.#transport;
    const callbacks: Partial<Transport> = {
      onmessage: (message, extra) => this.#received(message, extra),
      onerror: (error) => this.#listener.failed(error),
      onclose: () => this.#closed(),
    };
    Object.assign(transport, callbacks);
    await transport.start();
    const { initialize, protocolVersion, initialized } = this.greeting;
    if (initialize !== undefined) await this.#greet(initialize);
    // Clients before version 1.13 of the SDK do not set it.
    if (protocolVersion !== undefined) transport.setProtocolVersion?.(protocolVersion);
    if (initialized !== undefined) await this.#send(initialized);
  }

  async #greet(initialize: RequestMessage): Promise<void> {
    const id = "agent-rewind:initialize";
    const greeted = new Promise<ResponseMessage>((done) => (this.#greeting = { id, done }));
    await this.#send({ ...initialize, id });
    const { error } = await greeted;
    if (error !== undefined) throw new McpCallEndedError("initialize", "closed");
  }

  /** Sends a message that is not journaled. */
  async send(message: Message, options?: object): Promise<void> {
    await this.start();
    await this.#send(message, options);
  }

  /** @throws McpCallEndedError if the request ends without a response, and the errors of the transport. */
  async ask(
    message: RequestMessage,
    options: object | undefined,
    { caller, inside, signal }: { caller: RunContext; inside: RunContext | undefined; signal: AbortSignal },
  ): Promise<LiveAnswer> {
    await this.start();
    signal.throwIfAborted();
    const { promise, resolve, reject } = deferred<LiveAnswer>();
    this.#pending.set(message.id, { message, caller, inside, before: [], resolve, reject });
    const abort = (): void => {
      this.#end(message.id, signal.reason);
      const params = { requestId: message.id, reason: String(signal.reason) };
      this.#send({ jsonrpc: "2.0", method: CANCELLED, params }).catch((error: Error) => this.#listener.failed(error));
    };
    signal.addEventListener("abort", abort, { once: true });
    this.#send(message, options).catch((error: unknown) => this.#end(message.id, error));
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Cancels a pending request. The server will not answer it. */
  async cancel(message: NotificationMessage, options?: object): Promise<void> {
    const { requestId, reason } = (message.params ?? {}) as { requestId?: Id; reason?: string };
    const pending = this.#pending.get(requestId as Id);
    if (pending === undefined) return;
    const error = new McpCallEndedError(pending.message.method, "cancelled", reason);
    this.#end(requestId as Id, error);
    await this.#send(message, options);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #send(message: Message, options?: object): Promise<void> {
    return asTransport(() => this.#transport.send(message, options));
  }

  #received(message: Message, extra: unknown): void {
    if (isNotification(message)) this.#notified(message, extra);
    else if (isRequest(message)) this.#listener.message(message, extra, [...this.#pending.values()].at(-1)?.inside);
    else this.#answered(message, extra);
  }

  #notified(message: NotificationMessage, extra: unknown): void {
    if (message.method === PROGRESS) {
      const { progressToken: token } = (message.params ?? {}) as { progressToken?: Id };
      const all = [...this.#pending.values()];
      const pending = all.find((other) => progressToken(other.message.params) === token);
      pending?.before.push(...this.#unassigned.splice(0), recordNotification(message));
      this.#listener.message(message, extra, pending?.caller);
      return;
    }
    // The message does not name its request, so replay delivers it before the next response.
    if (this.#pending.size > 0) this.#unassigned.push(recordNotification(message));
    this.#listener.message(message, extra, undefined);
  }

  #answered(message: ResponseMessage, extra: unknown): void {
    if (message.id !== undefined && message.id === this.#greeting?.id) {
      this.#greeting.done(message);
      this.#greeting = undefined;
      return;
    }
    const pending = this.#pending.get(message.id as Id);
    if (pending === undefined) {
      this.#listener.message(message, extra, undefined);
      return;
    }
    this.#pending.delete(message.id as Id);
    pending.resolve({ response: message, before: [...pending.before, ...this.#unassigned.splice(0)] });
  }

  #end(id: Id, error: unknown): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#unassigned = [];
    pending?.reject(error);
  }

  #closed(): void {
    for (const [id, { message }] of this.#pending) this.#end(id, new McpCallEndedError(message.method, "closed"));
    this.#greeting?.done({ jsonrpc: "2.0", error: {} });
    this.#listener.closed();
  }
}

export const CANCELLED = "notifications/cancelled";

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: unknown) => void } {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
