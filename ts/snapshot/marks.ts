/** The marks of calls and frames. Snapshots, recordings and the rows of `inspect --json` name them alike. */
const MARKS = ["stopped", "handled", "unreached"] as const;

export type Marks = Partial<Record<(typeof MARKS)[number], true>>;

export function marksOf(fields: Marks): Marks {
  return Object.fromEntries(MARKS.filter((mark) => fields[mark] === true).map((mark) => [mark, true]));
}
