// Models for the AI SDK 5, 6 and 7, as their providers create them.

export interface SdkModel {
  specificationVersion: "v2" | "v3" | "v4";
  provider: string;
  modelId: string;
  supportedUrls: Record<string, RegExp[]>;
  doGenerate(params: Params): Promise<object>;
  doStream(params: Params): Promise<{ stream: ReadableStream<object> }>;
  /** The requests that reached the model. */
  calls: Params[];
}

export interface Params {
  prompt: { role: string; content: string | { type: string; text?: string }[] }[];
  abortSignal?: AbortSignal;
  [name: string]: unknown;
}

type Version = SdkModel["specificationVersion"];

const usage = (version: Version): object =>
  version === "v2"
    ? { inputTokens: 3, outputTokens: 4, totalTokens: 7 }
    : { inputTokens: { total: 3, noCache: 3 }, outputTokens: { total: 4, text: 4, reasoning: 0 } };

const finish = (version: Version, reason: string): unknown =>
  version === "v2" ? reason : { unified: reason, raw: reason };

export const response = (index: number): object => ({
  id: `response-${index}`,
  timestamp: new Date(1_000_000 * index),
  modelId: "m-1",
});

/** A model that reasons, calls the tool "weather" once if allowed, and then answers with the number of the call. */
export function sdkModel(version: Version, parts?: (index: number) => object[] | ReadableStream<object>): SdkModel {
  const calls: Params[] = [];
  const asked = (params: Params): { index: number; wantsTool: boolean } => {
    calls.push(params);
    const hasResult = params.prompt.some(({ role }) => role === "tool");
    return { index: calls.length - 1, wantsTool: params["tools"] !== undefined && !hasResult };
  };
  return {
    specificationVersion: version,
    provider: "scripted",
    modelId: "m",
    supportedUrls: {},
    calls,
    async doGenerate(params) {
      const { index, wantsTool } = asked(params);
      const call = { type: "tool-call", toolCallId: `c${index}`, toolName: "weather", input: '{"city":"Åre"}' };
      const file = { type: "file", mediaType: "image/png", data: fileData(version, new Uint8Array([1, 2, index])) };
      const text = { type: "text", text: `answer ${index}`, providerMetadata: { scripted: { index } } };
      return {
        content: [{ type: "reasoning", text: "hm…" }, ...(wantsTool ? [call] : [text, file])],
        finishReason: finish(version, wantsTool ? "tool-calls" : "stop"),
        usage: usage(version),
        warnings: [],
        providerMetadata: { scripted: { cached: index } },
        request: { body: { asked: index } },
        response: {
          ...response(index),
          headers: { "content-type": "x", date: `now ${index}`, "set-cookie": "secret" },
        },
      };
    },
    async doStream(params) {
      const { index, wantsTool } = asked(params);
      const given = parts?.(index);
      if (given instanceof ReadableStream) return { stream: given };
      return { stream: streamOf(given ?? scriptedParts(version, index, wantsTool)) };
    },
  };
}

function fileData(version: Version, bytes: Uint8Array): unknown {
  return version === "v4" ? { type: "data", data: bytes } : bytes;
}

function scriptedParts(version: Version, index: number, wantsTool: boolean): object[] {
  const id = String(index);
  const ends = wantsTool ? "tool-calls" : "stop";
  return [
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", ...response(index) },
    { type: "reasoning-start", id: `r${id}` },
    { type: "reasoning-delta", id: `r${id}`, delta: "hm…", providerMetadata: { scripted: { signature: "s" } } },
    { type: "reasoning-end", id: `r${id}` },
    ...(wantsTool
      ? [
          { type: "tool-input-start", id: `c${id}`, toolName: "weather" },
          { type: "tool-input-delta", id: `c${id}`, delta: '{"city":' },
          { type: "tool-input-delta", id: `c${id}`, delta: '"Åre"}' },
          { type: "tool-input-end", id: `c${id}` },
          { type: "tool-call", toolCallId: `c${id}`, toolName: "weather", input: '{"city":"Åre"}' },
        ]
      : [
          { type: "text-start", id: `t${id}` },
          ...Array.from(`answer ${id} 🌍`, (delta) => ({ type: "text-delta", id: `t${id}`, delta })),
          { type: "text-end", id: `t${id}` },
        ]),
    {
      type: "finish",
      finishReason: finish(version, ends),
      usage: usage(version),
      providerMetadata: { scripted: { index } },
    },
  ];
}

export function streamOf(parts: readonly object[]): ReadableStream<object> {
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      const part = parts[next];
      next += 1;
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
  });
}
