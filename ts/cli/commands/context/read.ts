import { readBoundaries, type Boundary } from "../../boundaries.js";
import { visible, type Outputs } from "../../output.js";

/** Reads the boundaries in a log, and prints warnings about skipped lines. */
export async function boundariesOf(path: string, { err }: Outputs): Promise<Boundary[]> {
  const { boundaries, warnings } = await readBoundaries(path);
  for (const warning of warnings) await err.line(err.style("yellow", visible(warning)));
  return boundaries;
}
