// A line of the report: the measurement, its baseline or limit, and the verdict.

/**
 * @typedef {object} Measured
 * @property {number} min
 * @property {number} median
 *
 * @typedef {object} Row
 * @property {string} case
 * @property {"ms" | "bytes"} unit of the measured values
 * @property {Measured} [ours]
 * @property {{ name: string } & Measured} [baseline]
 * @property {{ value: number, form: "ratio" | "faster" | "unit" | "exponent" }} result the value that the limit applies
 * to
 * @property {{ kind: "at most" | "at least", value: number }} [limit] absent if nothing is promised
 * @property {boolean} [holds] true if the result is within the limit
 */

/**
 * Our time as a multiple of the baseline's.
 *
 * @param {string} name of the case
 * @param {Measured} ours
 * @param {{ name: string } & Measured} baseline
 * @param {number} [limit] at most
 * @returns {Row}
 */
export function ratio(name, ours, baseline, limit, unit = "ms") {
  const result = { value: ours.min / baseline.min, form: "ratio" };
  return held({ case: name, unit, ours, baseline, result }, "at most", limit);
}

/**
 * The factor by which ours is faster.
 *
 * @param {string} name of the case
 * @param {Measured} ours
 * @param {{ name: string } & Measured} baseline
 * @param {number} [limit] at least
 * @returns {Row}
 */
export function faster(name, ours, baseline, limit) {
  const result = { value: baseline.min / ours.min, form: "faster" };
  return held({ case: name, unit: "ms", ours, baseline, result }, "at least", limit);
}

/**
 * A time without a baseline.
 *
 * @param {string} name of the case
 * @param {Measured} ours milliseconds
 * @param {number} [limit] milliseconds, at most
 * @returns {Row}
 */
export function time(name, ours, limit) {
  return held({ case: name, unit: "ms", ours, result: { value: ours.min, form: "unit" } }, "at most", limit);
}

/**
 * The time that ours takes in addition to the baseline.
 *
 * @param {string} name of the case
 * @param {Measured} ours milliseconds
 * @param {{ name: string } & Measured} baseline
 * @param {number} [limit] milliseconds, at most
 * @returns {Row}
 */
export function added(name, ours, baseline, limit) {
  const result = { value: ours.min - baseline.min, form: "unit" };
  return held({ case: name, unit: "ms", ours, baseline, result }, "at most", limit);
}

/**
 * The growth of a time with a size: the exponent of the power law that fits best.
 *
 * @param {string} name of the case
 * @param {number} value
 * @param {number} [limit] at most
 * @returns {Row}
 */
export function growth(name, value, limit) {
  return held({ case: name, unit: "ms", result: { value, form: "exponent" } }, "at most", limit);
}

function held(row, kind, value) {
  if (value === undefined) return row;
  const holds = kind === "at most" ? row.result.value <= value : row.result.value >= value;
  return { ...row, limit: { kind, value }, holds };
}
