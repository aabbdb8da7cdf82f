import type { Boundary } from "../../boundaries.js";
import { faultText } from "../../boundary-hashes.js";
import { EXIT, type ExitCode } from "../../exit.js";
import { visible, type Outputs } from "../../output.js";
import { boundariesOf } from "./read.js";

/** Prints the requests in logs, one boundary per line. */
export async function showContext(paths: readonly string[], outputs: Outputs, json: boolean): Promise<ExitCode> {
  const { out } = outputs;
  const all: Boundary[] = [];
  for (const path of paths) all.push(...(await boundariesOf(path, outputs)));
  if (json) {
    await out.json(all);
    return EXIT.ok;
  }
  for (const boundary of all) {
    if (!out.open) break;
    const {
      timestamp,
      session,
      agent,
      messageCount,
      toolCount,
      messageHash,
      toolsHash,
      hashFaults: faults = [],
    } = boundary;
    await out.line(
      [
        out.style("dim", visible(timestamp)),
        out.style("cyan", visible(agent === "" ? "-" : agent)),
        visible(session ?? "-"),
        `${messageCount ?? "?"} messages ${visible(messageHash ?? "-")}`,
        `${toolCount ?? "?"} tools ${visible(toolsHash ?? "-")}`,
        ...faults.map((fault) => out.style("red", faultText(fault))),
      ].join("  "),
    );
  }
  return EXIT.ok;
}
