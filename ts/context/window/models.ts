// How many tokens models take.

/** Tokens of a model's context window, by the beginning of its name. */
export type ModelLimits = Readonly<Record<string, number>>;

export const DEFAULT_MODEL_LIMIT = 128_000;

/** The limits that are known here; a manager's `models` extends and overrides them. */
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
 * The context window of a model, in tokens: that of the longest name in the tables that the model's name begins with,
 * up to a separator. A provider before a slash (`openai/gpt-4o`), and upper case, do not count. 128,000 for a name that
 * is not known.
 *
 * @param own names that come before those known here.
 */
export function modelLimit(model: string, own: ModelLimits = {}): number {
  const whole = model.toLowerCase();
  const bare = whole.slice(whole.lastIndexOf("/") + 1).replace(/^(?:[a-z]+\.)*anthropic\./, "");
  let best = { length: 0, limit: DEFAULT_MODEL_LIMIT };
  // Later ones win where two are equally long.
  for (const [name, limit] of [...Object.entries(MODEL_LIMITS), ...Object.entries(own)]) {
    const prefix = name.toLowerCase();
    if (prefix.length < best.length) continue;
    if (isPrefix(prefix, bare) || isPrefix(prefix, whole)) best = { length: prefix.length, limit };
  }
  return best.limit;
}

/** Whether a name begins with another, and not in the middle of a word: `o3` is no beginning of `o30`. */
function isPrefix(prefix: string, name: string): boolean {
  return name.startsWith(prefix) && (name.length === prefix.length || /[-:@._/]/.test(name.charAt(prefix.length)));
}
