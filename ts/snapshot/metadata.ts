import { encodeValue } from "../values/encode.js";

/** @throws TypeError if the metadata is not a JSON object. */
export function metadataText(metadata: Record<string, unknown> | undefined): string | undefined {
  if (metadata === undefined) return undefined;
  const encoded = encodeValue(metadata);
  if ("tombstone" in encoded) {
    const { path, reason } = encoded.tombstone;
    throw new TypeError(`options.metadata${path.replaceAll("/", ".")} cannot be stored in a snapshot: ${reason}`);
  }
  if (!encoded.text.startsWith("{")) throw new TypeError("options.metadata must be an object");
  return encoded.text;
}
