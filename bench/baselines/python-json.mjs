/**
 * The output of Python's `json.dumps(value, sort_keys=True)`, for values without fractions in which the two languages
 * differ.
 */
export function sortedJson(value) {
  if (Array.isArray(value)) return `[${value.map(sortedJson).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.keys(value)
      .toSorted()
      .map((key) => `${ascii(key)}: ${sortedJson(value[key])}`);
    return `{${members.join(", ")}}`;
  }
  return ascii(value);
}

function ascii(value) {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
