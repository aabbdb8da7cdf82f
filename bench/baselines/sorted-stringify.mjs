/**
 * The RFC 8785 form of plain JSON data, as usual in JavaScript: keys sorted by UTF-16 unit, text concatenated.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function sortedStringify(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) text += (text === "" ? "" : ",") + sortedStringify(item);
    return `[${text}]`;
  }
  for (const key of Object.keys(value).toSorted()) {
    if (value[key] === undefined) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${sortedStringify(value[key])}`;
  }
  return `{${text}}`;
}
