import { isUtf8 } from "node:buffer";

/** A part of a multipart body. */
export interface Part {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly content: Buffer;
}

/** The boundary that the content type of a multipart body names. */
export function boundaryOf(type: string): string | undefined {
  const [, quoted, plain] = /^multipart\/.*;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type) ?? [];
  return quoted ?? plain;
}

/** `undefined` if the bytes are not exactly a list of parts between boundaries. */
export function partsOf(bytes: Buffer, boundary: string): Part[] | undefined {
  const between = Buffer.from(`\r\n--${boundary}`);
  const first = between.subarray(2);
  if (!bytes.subarray(0, first.length).equals(first)) return undefined;
  const parts: Part[] = [];
  let at = first.length;
  while (bytes.toString("latin1", at, at + 2) === "\r\n") {
    const end = bytes.indexOf(between, at);
    const part = end === -1 ? undefined : partOf(bytes.subarray(at + 2, end));
    if (part === undefined) return undefined;
    parts.push(part);
    at = end + between.length;
  }
  return ["--", "--\r\n"].includes(bytes.toString("latin1", at)) ? parts : undefined;
}

function partOf(bytes: Buffer): Part | undefined {
  if (bytes.toString("latin1", 0, 2) === "\r\n") return { headers: [], content: bytes.subarray(2) };
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1 || !isUtf8(bytes.subarray(0, end))) return undefined;
  const lines = bytes.toString("utf8", 0, end).split("\r\n");
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, Math.max(colon, 0)), line.slice(colon + 1)];
  });
  return { headers, content: bytes.subarray(end + 4) };
}
