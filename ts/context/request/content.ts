import { calling, native } from "../../native.js";
import { JsonText } from "./json-text.js";

/** The parts of a captured request. */
export interface RequestContent {
  readonly messages: JsonText;
  readonly tools: JsonText;
  /** A system prompt that is separate from the messages. */
  readonly system: JsonText | undefined;
  /** All other members of the request, as one object. */
  readonly parameters: JsonText;
  /** The whole request, as it was sent or as it was hashed. */
  readonly document: JsonText;
  /** Size of the text in characters or bytes. */
  readonly size: number;
}

type Parts = Omit<RequestContent, "document" | "size"> & {
  readonly isObject: boolean;
  readonly messagesName: string | undefined;
};

const EMPTY_LIST = JsonText.ofStringified("[]");
const EMPTY_OBJECT = JsonText.ofStringified("{}");

export function contentOf(messages: unknown, tools: unknown): RequestContent {
  return new ValueContent(JsonText.of(messages), JsonText.of(tools));
}

class ValueContent implements RequestContent {
  readonly messages: JsonText;
  readonly tools: JsonText;
  readonly system: undefined;
  readonly parameters: JsonText = EMPTY_OBJECT;

  constructor(messages: JsonText, tools: JsonText) {
    this.messages = messages;
    this.tools = tools;
  }

  get size(): number {
    return this.messages.size + this.tools.size;
  }

  get document(): JsonText {
    return JsonText.ofStringified(`{"messages":${this.messages.wire},"tools":${this.tools.wire}}`);
  }
}

/** The content of a request document. Its parts are found on first access. */
export class DocumentContent implements RequestContent {
  readonly document: JsonText;
  #parts: Parts | undefined;

  constructor(document: JsonText) {
    this.document = document;
  }

  get size(): number {
    return this.document.size;
  }

  /** True if the document is a JSON object. */
  get isObject(): boolean {
    return this.#found.isObject;
  }

  /** The name of the member that contains the messages, such as `messages` or `input`. */
  get messagesName(): string | undefined {
    return this.#found.messagesName;
  }

  get messages(): JsonText {
    return this.#found.messages;
  }

  get tools(): JsonText {
    return this.#found.tools;
  }

  get system(): JsonText | undefined {
    return this.#found.system;
  }

  get parameters(): JsonText {
    return this.#found.parameters;
  }

  get #found(): Parts {
    this.#parts ??= partsOf(this.document);
    return this.#parts;
  }
}

function partsOf({ bytes, source }: JsonText): Parts {
  const parts = calling(() => native.boundaryParts(bytes));
  const part = (span: number[] | undefined): JsonText | undefined =>
    span === undefined ? undefined : JsonText.ofBytes(bytes.subarray(span[0], span[1]), source);
  return {
    isObject: parts != null,
    messagesName: parts?.messagesName,
    messages: part(parts?.messages) ?? EMPTY_LIST,
    tools: part(parts?.tools) ?? EMPTY_LIST,
    system: part(parts?.system),
    parameters: parts == null ? EMPTY_OBJECT : JsonText.ofBytes(Buffer.from(parts.parameters, "utf8"), source),
  };
}
