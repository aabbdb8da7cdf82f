import { checkObject, checkText } from "../../errors/received.js";

/** Context windows in tokens, by the prefix of a model's name. */
export type ModelLimits = Readonly<Record<string, number>>;

export const DEFAULT_MODEL_LIMIT = 128_000;

/** The built-in limits. The option `models` of a manager extends and overrides them. */
export const MODEL_LIMITS: ModelLimits = Object.freeze({
  "gpt-5": 400_000,
  "gpt-5-chat": 128_000,
  "gpt-4.1": 1_047_576,
  "gpt-4.5": 128_000,
  "gpt-4o": 128_000,
  "gpt-4-turbo": 128_000,
  "gpt-4-1106": 128_000,
  "gpt-4-0125": 128_000,
  "gpt-4-vision": 128_000,
  "gpt-4-32k": 32_768,
  "gpt-4": 8_192,
  "gpt-3.5-turbo": 16_385,
  "gpt-3.5-turbo-instruct": 4_096,
  o1: 200_000,
  "o1-mini": 128_000,
  "o1-preview": 128_000,
  o3: 200_000,
  "o4-mini": 200_000,
  claude: 200_000,
  "gemini-1.5-pro": 2_097_152,
  "gemini-1.5-flash": 1_048_576,
  gemini: 1_048_576,
  "gemini-pro": 32_760,
});

/**
 * Returns the context window of a model in tokens. The longest prefix of the model's name that ends at a separator
 * decides. A provider before a slash (`openai/gpt-4o`) and upper case are ignored. Unknown names get 128,000.
 *
 * @param own limits that take precedence over the built-in ones.
 */
export function modelLimit(model: string, own: ModelLimits = {}): number {
  checkText("modelLimit: model", model);
  checkObject("modelLimit: own", own);
  const whole = model.toLowerCase();
  const bare = whole.slice(whole.lastIndexOf("/") + 1).replace(/^(?:[a-z]+\.)*anthropic\./, "");
  let best = { length: 0, limit: DEFAULT_MODEL_LIMIT };
  // With equal lengths the later entry wins, so that `own` overrides the built-in limits.
  for (const [name, limit] of [...Object.entries(MODEL_LIMITS), ...Object.entries(own)]) {
    const prefix = name.toLowerCase();
    if (prefix.length < best.length) continue;
    if (isPrefix(prefix, bare) || isPrefix(prefix, whole)) best = { length: prefix.length, limit };
  }
  return best.limit;
}

/** True if a name starts with a prefix that ends at a separator: `o3` is not a prefix of `o30`. */
function isPrefix(prefix: string, name: string): boolean {
  return name.startsWith(prefix) && (name.length === prefix.length || /[-:@._/]/.test(name.charAt(prefix.length)));
}
