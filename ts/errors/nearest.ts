/** Longest differing part of two names that is compared letter by letter. */
const MAX_COMPARED = 64;

/** Names without duplicates, the most similar to `name` first; equally similar ones keep their order. */
export function nearest(name: string, known: Iterable<string>): string[] {
  const names = [...new Set(known)].map((text) => ({ text, distance: distance(name, text) }));
  return names.toSorted((left, right) => left.distance - right.distance).map(({ text }) => text);
}

/** The known name that `name` misspells. Upper and lower case are treated as equal. */
export function misspelled(name: string, known: readonly string[]): string | undefined {
  const written = name.toLowerCase();
  const byLetters = new Map(known.map((each) => [each.toLowerCase(), each]));
  const [first] = nearest(written, byLetters.keys());
  return first !== undefined && distance(written, first) <= Math.max(1, first.length / 3)
    ? byLetters.get(first)
    : undefined;
}

/** Levenshtein distance; an upper bound if the names differ in many letters. */
function distance(left: string, right: string): number {
  let start = 0;
  const shorter = Math.min(left.length, right.length);
  while (start < shorter && left[start] === right[start]) start++;
  let end = 0;
  while (end < shorter - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  return edits(left.slice(start, left.length - end), right.slice(start, right.length - end));
}

function edits(left: string, right: string): number {
  if (left.length === 0 || right.length === 0 || Math.max(left.length, right.length) > MAX_COMPARED) {
    return Math.max(left.length, right.length);
  }
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replaced = at(previous, column - 1) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, at(previous, column) + 1, at(current, column - 1) + 1));
    }
    previous = current;
  }
  return at(previous, right.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? 0;
}
