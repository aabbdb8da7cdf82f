// The report as text.

const COLUMNS = ["", "ours", "baseline", "result", "limit", ""];

/** @param {ReturnType<typeof import("./machine.mjs").machine>} machine */
export function formatMachine({ cpu, memory, node, v8, os, load }) {
  return `${cpu}, ${memory}\nNode ${node} (V8 ${v8}), ${os}, load ${load.toFixed(1)}\nTimes are minima, with the median in brackets.`;
}

/**
 * @param {{ title: string }} figure
 * @param {import("./row.mjs").Row[]} rows
 */
export function formatFigure({ title }, rows) {
  const cells = rows.map((row) => [
    row.case,
    row.ours ? formatMeasured(row.ours, row.unit) : "",
    row.baseline ? `${formatMeasured(row.baseline, row.unit)} ${row.baseline.name}` : "",
    formatResult(row.result, row.unit),
    row.limit
      ? `${row.limit.kind === "at most" ? "≤" : "≥"} ${formatResult({ ...row.result, ...row.limit }, row.unit)}`
      : "",
    row.limit ? (row.holds ? "holds" : "FALLS SHORT") : "",
  ]);
  const widths = COLUMNS.map((name, column) => Math.max(name.length, ...cells.map((line) => line[column].length)));
  const line = (parts) => `  ${parts.map((part, column) => part.padEnd(widths[column])).join("  ")}`.trimEnd();
  return [title, line(COLUMNS), ...cells.map(line)].join("\n");
}

function formatMeasured({ min, median }, unit) {
  return `${formatUnit(min, unit)} (${formatUnit(median, unit)})`;
}

function formatResult({ value, form }, unit) {
  switch (form) {
    case "ratio":
      return `${digits(value)} ×`;
    case "faster":
      return `${digits(value)} × faster`;
    case "exponent":
      return `n^${value.toFixed(2)}`;
    default:
      return formatUnit(value, unit);
  }
}

function formatUnit(value, unit) {
  if (unit === "bytes") return `${digits(value / 2 ** 20)} MiB`;
  const size = Math.abs(value);
  if (size >= 1000) return `${digits(value / 1000)} s`;
  return size >= 1 ? `${digits(value)} ms` : `${digits(value * 1000)} µs`;
}

/** Three significant digits. */
function digits(value) {
  return String(Number(value.toPrecision(3)));
}
