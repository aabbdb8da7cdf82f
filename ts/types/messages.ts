// Messages to and from models.

export interface TextPart {
  type: "text";
  text: string;
}

export interface ImagePart {
  type: "image";
  image: { url: string; detail?: string };
}

export interface VideoPart {
  type: "video";
  video: { url: string };
}

export type ContentPart = TextPart | ImagePart | VideoPart;

/** A tool call that a model requests. */
export interface ToolCall {
  id: string;
  name: string;
  /** Arguments as JSON text, as the model wrote them. */
  arguments: string;
  /** Data of the adapter, which gets it back with this call. */
  extra?: Record<string, unknown>;
}

export interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content: string | ContentPart[] | null;
  reasoning_content?: string;
  tool_calls?: ToolCall[];
  /** In a message of the role "tool": id of the call that it answers. */
  tool_call_id?: string;
  name?: string;
  /** Data of the adapter, which gets it back with this message. */
  extra?: Record<string, unknown>;
}

export type ToolChoice = "auto" | "none" | "required" | { type: "function"; function: { name: string } };
