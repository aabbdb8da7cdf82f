/** Bounds the work for prose with many brackets: each try may read the whole text. */
const MAX_TRIES = 64;

/**
 * Parses a model's answer as JSON: the whole text, or the first fenced block of JSON, or the longest object or array in
 * the prose.
 *
 * @returns `{ ok: value }`, or `{ error }` with the reason why the whole text is not JSON.
 */
export function parseAnswer(text: string): { ok: unknown } | { error: string } {
  const whole = text.trim();
  try {
    return { ok: JSON.parse(whole) as unknown };
  } catch (error) {
    return parseFenced(whole) ?? parseInProse(whole) ?? { error: (error as SyntaxError).message };
  }
}

function parseFenced(text: string): { ok: unknown } | undefined {
  for (const [, block = ""] of text.matchAll(/```[^\n`]*\n([\s\S]*?)```/g)) {
    const parsed = tryParse(block);
    if (parsed !== undefined) return parsed;
  }
  return undefined;
}

function parseInProse(text: string): { ok: unknown } | undefined {
  let longest = "";
  let found: { ok: unknown } | undefined;
  let tries = 0;
  for (let start = nextBracket(text, 0); start >= 0 && tries < MAX_TRIES; tries++) {
    const end = endOfBrackets(text, start);
    const candidate = text.slice(start, end);
    const parsed = end === undefined ? undefined : tryParse(candidate);
    if (parsed !== undefined && candidate.length > longest.length) {
      longest = candidate;
      found = parsed;
    }
    start = nextBracket(text, parsed === undefined ? start + 1 : start + candidate.length);
  }
  return found;
}

function nextBracket(text: string, from: number): number {
  for (let index = from; index < text.length; index++) {
    if (text[index] === "{" || text[index] === "[") return index;
  }
  return -1;
}

/** The index after the bracket that closes the one at `start`, ignoring strings; `undefined` if there is none. */
function endOfBrackets(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (inString) {
      if (character === "\\") index++;
      else if (character === '"') inString = false;
    } else if (character === '"') {
      inString = true;
    } else if (character === "{" || character === "[") {
      depth++;
    } else if ((character === "}" || character === "]") && --depth === 0) {
      return index + 1;
    }
  }
  return undefined;
}

function tryParse(text: string): { ok: unknown } | undefined {
  try {
    return { ok: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
