// What models are sent, and what they answer.

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

/** A call of a tool that a model asks for. */
export interface ToolCall {
  id: string;
  name: string;
  /** JSON text, as the model wrote it. */
  arguments: string;
  /** What the adapter has to get back with this call. */
  extra?: Record<string, unknown>;
}

export interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content: string | ContentPart[] | null;
  reasoning_content?: string;
  tool_calls?: ToolCall[];
  /** In a message of the role "tool": the call that it answers. */
  tool_call_id?: string;
  name?: string;
  /** What the adapter has to get back with this message. */
  extra?: Record<string, unknown>;
}

export type ToolChoice = "auto" | "none" | "required" | { type: "function"; function: { name: string } };
