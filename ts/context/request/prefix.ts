// Providers keep the state of a model after the beginning of a request: tools, then the system prompt, then messages.
// It is of use again as long as that beginning stays the same, to the letter.

import type { Difference } from "../../types/miss.js";
import type { RequestContent } from "./content.js";
import { isObject, type JsonText } from "./json-text.js";

/** Whether the beginning of a request that a prompt cache goes by is still the same. */
export interface CachePrefix {
  /** Whether something differs before the first message that is new. */
  readonly broken: boolean;
  /** Leading messages that both requests have, if nothing before them differs. */
  readonly reusableMessages: number;
  /** Where the beginning breaks. */
  readonly segment?: "model" | "tools" | "system" | "messages";
  /** JSON pointer into the request. */
  readonly pointer?: string;
  /** What kind of value broke it: as in `Difference`; `"key-order"` where the values are the same. Absent if it is beyond the differences that are listed. */
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
  // Some APIs have other names for the parts.
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
    model: JSON.stringify(isObject(others) ? (others["model"] ?? null) : null),
    tools: layer(tools),
    system: system === undefined ? "" : layer(system),
    messages: (Array.isArray(list) ? (list as unknown[]) : [list]).map(text),
  };
}

function layer(part: JsonText): string {
  return text(part.value);
}

/** In the order of its keys. The marks that say up to where to cache are no part of what is cached. */
function text(value: unknown): string {
  return (
    JSON.stringify(value, (key, item: unknown) => {
      if (key === "cache_control") return undefined;
      return typeof item === "bigint" ? item.toString() : item;
    }) ?? "null"
  );
}
