import type { CallRow, FrameRow, Row } from "../view/run-view.js";
import { InputError } from "./exit.js";
import { visible } from "./output.js";

/** A row to print. */
export interface Selected {
  readonly row: Row;
  /** True if no other selected row under its frame follows. */
  readonly last: boolean;
  /** The number of a call among all calls, from 1. */
  readonly number: number | undefined;
}

export interface Filter {
  readonly depth?: number;
  readonly failed?: boolean;
  readonly grep?: string;
}

/** The rows that fit, with the frames around them. */
export function filtered(rows: readonly Row[], { depth = Infinity, failed = false, grep }: Filter): Selected[] {
  const text = grep?.toLowerCase();
  const fits = (row: Row): boolean =>
    row.depth <= depth && (!failed || isFault(row)) && (text === undefined || textOf(row).includes(text));
  const kept = new Set<number>();
  for (const [index, row] of rows.entries()) {
    if (!fits(row)) continue;
    for (let at: number | undefined = index; at !== undefined && !kept.has(at); at = rows[at]?.parent) kept.add(at);
  }
  let number = 0;
  const numbers = rows.map((row) => (row.row === "call" ? (number += 1) : undefined));
  const followed = new Set<number | undefined>();
  const selected: Selected[] = [];
  for (const index of [...kept].toSorted((a, b) => b - a)) {
    const row = rows[index] as Row;
    selected.push({ row, last: !followed.has(row.parent), number: numbers[index] });
    followed.add(row.parent);
  }
  return selected.toReversed();
}

function isFault(row: Row): boolean {
  return row.row !== "generation" && (row.reason !== undefined || row.status === "in flight" || isErrorStatus(row));
}

function isErrorStatus(row: CallRow | FrameRow): boolean {
  return row.row === "call" && (row.httpStatus ?? 0) >= 400;
}

function textOf(row: Row): string {
  if (row.row === "generation") return "";
  const { callId = "", reason, spanId } = row;
  const more = row.row === "call" ? [row.model, row.endpoint, row.question, row.answer, row.contentHash] : [row.props];
  return [callId, reason, spanId, ...more].join("\n").toLowerCase();
}

/**
 * The position of the row that a command names: by callId, the end of one, span id, or the number of a call, as in "#37".
 * @throws InputError
 */
export function rowNamed(rows: readonly Row[], name: string): number {
  if (/^#\d+$/.test(name)) {
    const calls = rows.flatMap((row, index) => (row.row === "call" ? [index] : []));
    const found = calls[Number(name.slice(1)) - 1];
    if (found === undefined) throw new InputError(`there is no call ${name}: the recording has ${calls.length} calls`);
    return found;
  }
  const named = rows.flatMap((row, index) =>
    row.row !== "generation" && (row.callId === name || row.spanId === name) ? [index] : [],
  );
  const [found] = named;
  if (found !== undefined) return found;
  const ending = rows.flatMap((row, index) =>
    row.row !== "generation" && row.callId?.endsWith(`/${name}`) === true ? [index] : [],
  );
  const [only, second] = ending;
  if (only !== undefined && second === undefined) return only;
  const hint =
    only === undefined
      ? '"agent-rewind inspect --ids" lists callIds, numbers and span ids'
      : `${ending.length} calls end with it; write the whole callId, such as ${visible((rows[only] as CallRow).callId ?? "")}`;
  throw new InputError(`no call or frame is named "${visible(name)}": ${hint}`);
}
