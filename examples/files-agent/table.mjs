/**
 * Formats a table: the first column is left-aligned, the others are right-aligned.
 *
 * @param {string[]} head
 * @param {(string | number)[][]} rows
 * @returns {string}
 */
export function formatTable(head, rows) {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const lines = cells.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join("   "),
  );
  return [lines[0], "─".repeat(lines[0].length), ...lines.slice(1)].join("\n");
}
