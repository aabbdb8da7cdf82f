import { pythonText } from "./request/hashes.js";
import { JsonText } from "./request/json-text.js";

/**
 * The text that the hashes of a snapshot are made of: what Python's `json.dumps(value, sort_keys=True, default=str)`
 * gives. Pure ASCII.
 * @throws CaptureError if the value cannot be written as JSON.
 */
export function pythonJson(value: unknown): string {
  return pythonText(JsonText.of(value));
}
