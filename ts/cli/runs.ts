// The runs of a trace file. A program that runs again appends to its file.

/** The runs, in the order of their starts in the file. */
export function runsIn(trace: Buffer): { traceId: string; started: number | undefined }[] {
  const MARK = '"runWith:start"';
  const runs = new Map<string, number | undefined>();
  for (let found = trace.indexOf(MARK); found >= 0; found = trace.indexOf(MARK, found + MARK.length)) {
    // The id and the time are near the type, in lines and lists.
    const near = trace.toString("utf8", found, found + 500);
    const traceId = /"traceId":\s*"([^"\\]+)"/.exec(near)?.[1];
    const time = /"timestamp":\s*(\d+)/.exec(near)?.[1];
    if (traceId !== undefined && !runs.has(traceId)) runs.set(traceId, time === undefined ? undefined : Number(time));
  }
  return [...runs].map(([traceId, started]) => ({ traceId, started }));
}
