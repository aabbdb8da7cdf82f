/** The marks of calls and frames. Snapshots, recordings and the rows of `inspect --json` use the same names. */
export interface Marks {
  stopped?: true;
  handled?: true;
  unreached?: true;
}

const MARKS: (keyof Marks)[] = ["stopped", "handled", "unreached"];

export function marksOf(fields: Marks): Marks {
  return Object.fromEntries(MARKS.filter((mark) => fields[mark] === true).map((mark) => [mark, true]));
}
