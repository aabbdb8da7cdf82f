// Providers cache the state of a model for the prefix of a request: tools, then the system prompt, then messages. The
// cache is reusable only while that prefix stays exactly the same.

import type { Difference } from "../../types/miss.js";
import type { RequestContent } from "./content.js";
import type { JsonText } from "./json-text.js";
import { isRecord } from "../../values/members.js";

/** How much of the prefix of a request a prompt cache can reuse. */
export interface CachePrefix {
  /** True if something before the first new message differs. */
  readonly broken: boolean;
  /** Number of leading messages that both requests share. 0 if something before the messages differs. */
  readonly reusableMessages: number;
  /** The segment with the first difference. */
  readonly segment?: "model" | "tools" | "system" | "messages";
  /** JSON pointer to the first difference in the request. */
  readonly pointer?: string;
  /**
   * The kind of difference, as in `Difference`, or `"key-order"` if only the order of keys differs. Absent if the
   * difference is not among the listed ones.
   */
  readonly nature?: string;
}

interface Listed {
  readonly differences: readonly Difference[];
  readonly more: number;
}

export function comparePrefix(before: RequestContent, after: RequestContent, differences: Listed): CachePrefix {
  const [left, right] = [layersOf(before), layersOf(after)];
  for (const segment of ["model", "tools", "system"] as const) {
    if (left[segment] !== right[segment]) return broken(segment, `/${segment}`, 0, differences);
  }
  const shared = Math.min(left.messages.length, right.messages.length);
  let same = 0;
  while (same < shared && left.messages[same] === right.messages[same]) same += 1;
  return same < shared
    ? broken("messages", `/messages/${same}`, same, differences)
    : { broken: false, reusableMessages: same };
}

function broken(
  segment: NonNullable<CachePrefix["segment"]>,
  place: string,
  reusableMessages: number,
  { differences, more }: Listed,
): CachePrefix {
  // Some APIs use other names for the parts.
  const names = segment === "messages" ? ["messages", "input", "contents"] : OTHER_NAMES[segment];
  const places = names.map((name) => place.replace(segment, name));
  const cause = differences.find(({ pointer }) =>
    places.some((at) => pointer === at || pointer.startsWith(`${at}/`) || at.startsWith(`${pointer}/`)),
  );
  return {
    broken: true,
    segment,
    pointer: cause?.pointer ?? place,
    ...(cause === undefined && more > 0 ? {} : { nature: cause?.nature ?? "key-order" }),
    reusableMessages,
  };
}

const OTHER_NAMES = {
  model: ["model"],
  tools: ["tools", "functions"],
  system: ["system", "instructions", "system_instruction", "systemInstruction"],
} as const;

interface Layers {
  readonly model: string;
  readonly tools: string;
  readonly system: string;
  readonly messages: readonly string[];
}

function layersOf({ messages, tools, system, parameters }: RequestContent): Layers {
  const others = parameters.value;
  const list = messages.value;
  return {
    model: JSON.stringify(isRecord(others) ? (others["model"] ?? null) : null),
    tools: layer(tools),
    system: system === undefined ? "" : layer(system),
    messages: (Array.isArray(list) ? (list as unknown[]) : [list]).map(text),
  };
}

function layer(part: JsonText): string {
  return text(part.value);
}

/** JSON text in the given order of keys. `cache_control` markers are not part of the cached content. */
function text(value: unknown): string {
  return (
    JSON.stringify(value, (key, item: unknown) => {
      if (key === "cache_control") return undefined;
      return typeof item === "bigint" ? item.toString() : item;
    }) ?? "null"
  );
}
