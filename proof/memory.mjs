// node proof/memory.mjs [RUNS] [MORE_RUNS]: checks that the memory that runs leave behind does not grow with their
// number. Compares heap and resident memory after 10,000 and after 100,000 runs with dumps.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const LIMIT = 1.2;
const counts = process.argv.length > 2 ? process.argv.slice(2) : ["10000", "100000"];
const program = fileURLToPath(new URL("memory/process.mjs", import.meta.url));
// Without this flag, V8's young generation grows for a while, which is not memory left by runs.
const flags = ["--expose-gc", "--max-semi-space-size=4"];
const printed = execFileSync(process.execPath, [...flags, program, ...counts], { encoding: "utf8" });
const [first, last] = JSON.parse(printed);

const megabytes = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
for (const kind of ["heap", "rss"]) {
  const ratio = last[kind] / first[kind];
  console.log(
    `${kind}: ${megabytes(first[kind])} after ${first.runs} runs, ${megabytes(last[kind])} after ${last.runs}: ` +
      `${ratio.toFixed(2)} times, at most ${LIMIT}`,
  );
  if (!(ratio <= LIMIT)) process.exitCode = 1;
}
