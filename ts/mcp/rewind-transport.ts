import { isMcpCallEndedError } from "../errors/mcp.js";
import {
  ambientContext,
  getContext,
  journaled,
  outsideOfRuns,
  type AmbientContext,
  type RunContext,
} from "../integration/index.js";
import { CANCELLED, Connection, type LiveAnswer } from "./connection.js";
import {
  cancelledAnswer,
  describeRequest,
  failureIn,
  isNotification,
  isRequest,
  progressToken,
  replayNotification,
  type Id,
  type Message,
  type NotificationMessage,
  type RecordedAnswer,
  type RequestMessage,
  type ResponseMessage,
} from "./messages.js";
import { overlaid, type Transport, type TransportLike } from "./transport.js";

export interface RewindTransportOptions {
  /**
   * The prefix of the names of tools and methods in recordings, to tell servers apart. Default: the name that the server
   * reports. Set it if two servers report the same name.
   */
  server?: string;
}

/**
 * Wraps the transport of an MCP client. Requests are journaled in the current run, agent or test, and replayed from its
 * recording; outside of them they go to `transport`. The server is started, or connected to, by the first request that
 * the recording does not answer, so a full replay needs no server.
 *
 * @throws TypeError if `transport` is not a transport, or `options.server` is not a non-empty string.
 * @throws ReplayMissError from a client's request that a strict replay has no answer for.
 */
export function rewindTransport<T extends TransportLike>(transport: T, options: RewindTransportOptions = {}): T {
  for (const method of ["start", "send", "close"] as const) {
    if (typeof (transport as Partial<TransportLike> | undefined)?.[method] !== "function")
      throw new TypeError(`rewindTransport: transport must be a transport of an MCP client, but has no ${method}()`);
  }
  const { server } = options;
  if (server !== undefined && (typeof server !== "string" || server === ""))
    throw new TypeError("rewindTransport: options.server must be a non-empty string");
  const own = new RewindTransport(transport, server);
  return overlaid(transport, own, (other) => rewindTransport(other, options));
}

/** Also true for a transport that another copy of this package wrapped. */
export function isWrapped(transport: object): boolean {
  return WRAPPED in transport;
}

const WRAPPED = Symbol.for("agent-rewind.mcp.transport");

// Taken at load: fake timers that a test installs later must not stop a replay.
const { nextTick } = process;

class RewindTransport implements Transport {
  readonly [WRAPPED] = true;
  onclose: Transport["onclose"] = undefined;
  onerror: Transport["onerror"] = undefined;
  onmessage: Transport["onmessage"] = undefined;
  readonly #transport: Transport;
  readonly #connection: Connection;
  readonly #created: RunContext | undefined = getContext();
  #server: string | undefined;
  /** The id of an `initialize` request that was not journaled. */
  #greeting: Id | undefined;
  /** Pending requests that the recording may answer. */
  readonly #journaledIds = new Set<unknown>();
  #closed = false;

  constructor(transport: Transport, server: string | undefined) {
    this.#transport = transport;
    this.#server = server;
    this.#connection = new Connection(transport, {
      message: (message, extra, context) => {
        if (!isNotification(message) && !isRequest(message) && message.id === this.#greeting) this.#greeted(message);
        this.#deliver(message, context ?? this.#created, extra);
      },
      closed: () => this.#close(),
      failed: (error) => this.onerror?.(error),
    });
  }

  get sessionId(): string | undefined {
    return this.#transport.sessionId;
  }

  setProtocolVersion(version: string): void {
    if (this.#connection.begun) this.#transport.setProtocolVersion?.(version);
    else this.#connection.greeting.protocolVersion = version;
  }

  async start(): Promise<void> {
    if (this.#ambient() === undefined) await this.#connection.start();
  }

  /** A request resolves when it has been answered. */
  async send(message: Message, options?: object): Promise<void> {
    if (isRequest(message)) {
      await this.#request(message, options);
    } else if (isNotification(message) && message.method === CANCELLED && this.#isJournaled(message)) {
      await this.#connection.cancel(message, options);
    } else if (this.#connection.begun) {
      await this.#connection.send(message, options);
    } else if (isNotification(message) && message.method === "notifications/initialized") {
      this.#connection.greeting.initialized = message;
    }
  }

  async close(): Promise<void> {
    if (this.#connection.begun) await this.#connection.close();
    else this.#close();
  }

  #ambient(): AmbientContext | undefined {
    return ambientContext("rewindTransport", this.#created);
  }

  #isJournaled({ params }: NotificationMessage): boolean {
    return this.#journaledIds.has(params?.["requestId"]);
  }

  async #request(message: RequestMessage, options: object | undefined): Promise<void> {
    const { method, id } = message;
    const ambient = this.#ambient();
    if (ambient === undefined) {
      if (method === "initialize") this.#greeting = id;
      await this.#connection.send(message, options);
      return;
    }
    this.#journaledIds.add(id);
    try {
      await this.#journaled(message, options, ambient.context);
    } finally {
      this.#journaledIds.delete(id);
    }
  }

  async #journaled(message: RequestMessage, options: object | undefined, context: RunContext): Promise<void> {
    const { method, id } = message;
    let executed = false;
    let live: LiveAnswer | undefined;
    try {
      const { value } = await journaled<RecordedAnswer>({
        ...describeRequest(message, this.#server),
        context,
        // Requests of the server are answered by the program.
        leaf: false,
        execute: async ({ signal }) => {
          executed = true;
          live = await this.#connection.ask(message, options, { caller: context, inside: getContext(), signal });
          return recorded(live);
        },
        failureIn,
      });
      if (live === undefined) await this.#replayNotifications(value, message, context);
      const { before: _before, ...answer } = value;
      const response = live?.response ?? { jsonrpc: "2.0", id, ...answer };
      if (method === "initialize") this.#greeted(response, live === undefined ? message : undefined);
      this.#deliver(response, context);
    } catch (error) {
      if (executed || !isMcpCallEndedError(error)) throw error;
      if (error.how === "closed") this.#close();
      else this.#deliver(cancelledAnswer(id, error.reason), context);
    }
  }

  /** Delivers the recorded notifications before the answer, each in its own task. */
  async #replayNotifications(
    { before = [] }: RecordedAnswer,
    { params }: RequestMessage,
    context: RunContext,
  ): Promise<void> {
    const token = progressToken(params);
    for (const recordedNotification of before) {
      const message = replayNotification(recordedNotification, token);
      if (message === undefined) continue;
      this.#deliver(message, "progressToken" in (message.params ?? {}) ? context : this.#created);
      // After the synchronous work of the client, but before any other call is answered.
      await new Promise<void>((resolve) => nextTick(resolve));
    }
  }

  #greeted({ result }: ResponseMessage, replayed?: RequestMessage): void {
    const { serverInfo } = (result ?? {}) as { serverInfo?: { name?: unknown } };
    if (typeof serverInfo?.name === "string" && serverInfo.name !== "") this.#server ??= serverInfo.name;
    if (replayed !== undefined && result !== undefined) this.#connection.greeting.initialize = replayed;
  }

  #deliver(message: Message, context: RunContext | undefined, extra?: unknown): void {
    const deliver = (): void => this.onmessage?.(message, extra);
    if (context === undefined) outsideOfRuns(deliver);
    else context.run(deliver);
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onclose?.();
  }
}

function recorded({ response, before }: LiveAnswer): RecordedAnswer {
  const { result, error } = response;
  return { ...(error === undefined ? { result } : { error }), ...(before.length === 0 ? {} : { before }) };
}
