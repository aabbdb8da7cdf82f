// Reports what a failure lacks: when it is recorded, and when it is replayed.

import type { ErrorInfo } from "../../../types/snapshot.js";
import { fromErrorInfo, lostParts } from "../../../values/error-info.js";
import type { ErrorClass } from "../../../types/error-class.js";
import type { Scope } from "../../scope/scope.js";
import { warn } from "../../../errors/printable.js";

/**
 * Restores a recorded failure, with the classes that the call and its run name. What it lacks is listed in the report of
 * the run, and warned of once per class and place.
 */
export function restoreError(
  scope: Scope,
  callId: string,
  info: ErrorInfo,
  named: readonly ErrorClass[] = [],
): unknown {
  const { report, errors } = scope.run;
  const onLost = (lost: readonly string[]): void => {
    const name = classOf(info);
    report.incompleteErrors.push({ callId, name, lost });
    warnOnce(
      `replayed ${name}`,
      lost,
      `the replayed failure of ${callId} (${name}) lacks what the recorded one had: ${lost.join("; ")}. ` +
        "Classes come back if the option `errors` names them. The report lists all such calls.",
    );
  };
  return fromErrorInfo(info, { classes: [named, errors], onLost });
}

/** Warns once per class and place that a part of a failure cannot be recorded. */
export function warnOfLostParts(call: { readonly callId: string }, info: ErrorInfo): void {
  const lost = lostParts(info);
  if (lost.length === 0) return;
  const name = classOf(info);
  warnOnce(
    `recorded ${name}`,
    lost,
    `the failure of ${call.callId} (${name}) is recorded without what a recording cannot keep: ${lost.join("; ")}.`,
  );
}

function classOf({ class: names, name }: ErrorInfo): string {
  return names?.[0] || name;
}

const warned = new Set<string>();
/** Each warning costs memory for as long as the process lives. */
const MAX_WARNINGS = 1_000;

function warnOnce(what: string, places: readonly string[], message: string): void {
  const key = `${what} ${places.join(" ").replace(/\/\d+/g, "/*")}`;
  if (warned.has(key) || warned.size >= MAX_WARNINGS) return;
  warned.add(key);
  warn(message);
}
