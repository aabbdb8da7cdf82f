// The messages of JSON-RPC 2.0, and their form in a recording.

export type Id = string | number;
export type Params = Readonly<Record<string, unknown>>;

export interface RequestMessage {
  readonly jsonrpc: "2.0";
  readonly id: Id;
  readonly method: string;
  readonly params?: Params;
}

export interface NotificationMessage {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: Params;
}

export interface ResponseMessage {
  readonly jsonrpc: "2.0";
  readonly id?: Id;
  readonly result?: unknown;
  readonly error?: unknown;
}

export type Message = RequestMessage | NotificationMessage | ResponseMessage;

export const isRequest = (message: Message): message is RequestMessage => "method" in message && "id" in message;
export const isNotification = (message: Message): message is NotificationMessage =>
  "method" in message && !("id" in message);

/** An answer in the journal. Its id is that of the request and is not recorded. */
export interface RecordedAnswer {
  result?: unknown;
  error?: unknown;
  /** Notifications that arrived while the request was in flight, without their progress tokens. */
  before?: RecordedNotification[];
}

/** A JSON-RPC error and a failed tool are journaled as failures, so that the retry rule applies to them. */
export function failureIn({ result, error }: RecordedAnswer): { name: string; message: string } | undefined {
  if (error !== undefined) {
    const { message } = (error ?? {}) as { message?: unknown };
    return { name: "McpError", message: textOf(message) };
  }
  const { isError, content } = (result ?? {}) as { isError?: unknown; content?: unknown };
  if (isError !== true) return undefined;
  const [first] = Array.isArray(content) ? (content as unknown[]) : [];
  return { name: "McpToolError", message: textOf((first as { text?: unknown } | null | undefined)?.text) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "the server gave no reason";
}

export interface RecordedNotification {
  method: string;
  params?: Params;
}

/** Describes a request for the journal. The name includes the server, because equal requests to two servers differ. */
export function describeRequest(
  { method, params = {} }: RequestMessage,
  server: string | undefined,
): { kind: "tool" | "mcp"; name: string; request: unknown } {
  const named = (name: string): string => (server === undefined ? name : `${server}/${name}`);
  const asked = withoutToken(params);
  const { name, arguments: input = {}, ...more } = asked;
  if (method !== "tools/call" || typeof name !== "string") return { kind: "mcp", name: named(method), request: asked };
  const request = Object.keys(more).length === 0 ? input : { arguments: input, ...more };
  return { kind: "tool", name: named(name), request };
}

/** Removes the progress token. It is the request's id, which depends on the number of earlier requests. */
function withoutToken(params: Params): Params {
  if (progressToken(params) === undefined) return params;
  const { _meta, ...rest } = params;
  const { progressToken: _token, ...meta } = _meta as Params;
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}

export function progressToken(params: Params = {}): Id | undefined {
  const meta = params["_meta"];
  if (typeof meta !== "object" || meta === null) return undefined;
  return (meta as { progressToken?: Id }).progressToken;
}

export function recordNotification({ method, params }: NotificationMessage): RecordedNotification {
  if (params === undefined) return { method };
  if (method !== PROGRESS) return { method, params };
  const { progressToken: _token, ...rest } = params;
  return { method, params: rest };
}

export const PROGRESS = "notifications/progress";

/** Converts a recorded notification for a client whose request has this progress token. */
export function replayNotification(
  { method, params }: RecordedNotification,
  token: Id | undefined,
): NotificationMessage | undefined {
  if (method === PROGRESS) {
    // A request without a token does not want progress.
    return token === undefined ? undefined : { jsonrpc: "2.0", method, params: { ...params, progressToken: token } };
  }
  return { jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) };
}

/** The error response of a cancelled request, in the form that the client itself creates. */
export function cancelledAnswer(id: Id, reason = "Request cancelled"): ResponseMessage {
  const message = reason.replace(/^McpError: MCP error -32001: /, "");
  return { jsonrpc: "2.0", id, error: { code: -32_001, message } };
}
