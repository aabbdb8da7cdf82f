import { contentHash } from "../../snapshot/hash.js";
import { EXIT, type ExitCode } from "../exit.js";
import { readInput, reading } from "../input.js";
import { visible, type Output } from "../output.js";

/** Prints the contentHash of JSON documents. */
export async function hash(paths: readonly string[], out: Output, json: boolean): Promise<ExitCode> {
  const rows: { file: string; contentHash: string }[] = [];
  for (const path of paths) {
    const bytes = await readInput(path);
    rows.push({ file: path, contentHash: reading(path, () => contentHash(decoder.decode(bytes))) });
  }
  if (json) await out.json(rows);
  else for (const row of rows) await out.line(`${row.contentHash}  ${visible(row.file)}`);
  return EXIT.ok;
}

const decoder = new TextDecoder("utf-8", { fatal: true });
