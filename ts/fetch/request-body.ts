/** The body of a request, as fetch sends it. */
export interface SentBody {
  readonly content: string | Buffer | undefined;
  /** The content type that fetch sends if the program names none. For a form, with the boundary in `content`. */
  readonly type?: string | undefined;
  /** The form that `content` was made of. */
  readonly form?: FormData;
  /** The body to send in place of a stream, which can be read only once. */
  readonly read?: Buffer;
}

/** Returns a promise only if the body must be read first. */
export function readBody(request: Request | undefined, init: RequestInit | undefined): SentBody | Promise<SentBody> {
  const body: unknown = init?.body;
  if (body == null) {
    const own = request?.body == null ? null : request.clone().body;
    return own === null ? { content: undefined } : streamBody(own);
  }
  if (typeof body === "string") return textBody(body);
  if (body instanceof ArrayBuffer) return { content: Buffer.from(body) };
  if (ArrayBuffer.isView(body)) return { content: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
  // Not `instanceof`: the body may be of the undici package.
  const tag = Object.prototype.toString.call(body).slice("[object ".length, -1);
  if (tag === "URLSearchParams") return textBody(asText(body), "application/x-www-form-urlencoded;charset=UTF-8");
  if (tag === "FormData") return formBody(body as FormData);
  if (tag === "Blob" || tag === "File") return blobBody(body as Blob);
  if (typeof body === "object" && Symbol.asyncIterator in body) return streamBody(body as AsyncIterable<Uint8Array>);
  // Like fetch, convert everything else to a string.
  return textBody(asText(body));
}

/** JavaScript callers may pass any value. */
function asText(value: { toString(): string }): string {
  return String(value);
}

function textBody(content: string, type: string = "text/plain;charset=UTF-8"): SentBody {
  return { content, type };
}

async function blobBody(blob: Blob): Promise<SentBody> {
  return { content: Buffer.from(await blob.arrayBuffer()), type: blob.type === "" ? undefined : blob.type };
}

async function streamBody(stream: AsyncIterable<Uint8Array | string>): Promise<SentBody> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array));
  const content = Buffer.concat(chunks);
  return { content, read: content };
}

async function formBody(sent: FormData): Promise<SentBody> {
  let form = sent;
  if (!(sent instanceof FormData)) {
    form = new FormData();
    for (const [name, value] of sent as FormData) {
      if (typeof value === "string") form.append(name, value);
      else form.append(name, new Blob([await value.arrayBuffer()], { type: value.type }), value.name);
    }
  }
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? undefined;
  return { content: Buffer.from(await encoded.arrayBuffer()), type, form };
}
