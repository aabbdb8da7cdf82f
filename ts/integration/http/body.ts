import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";

import { native } from "../../native.js";
import { boundaryOf, partsOf, type Part } from "./multipart.js";
import { shown, type Digest } from "./secret-text.js";
import { parametersOf } from "./url.js";

const TEXT = /json|^text\/|xml|graphql|javascript|x-www-form-urlencoded/i;
const PARAMETERS = /^application\/x-www-form-urlencoded/i;

/** The member of the document for a body: its name and JSON text. Depends only on the bytes and their type. */
export function bodyMember(body: string | Uint8Array, type: string, countedHeaders: CountedHeaders): BodyMember {
  if (body.length === 0) return () => "";
  const boundary = boundaryOf(type);
  if (boundary !== undefined) {
    const bytes = bufferOf(body);
    const parts = partsOf(bytes, boundary);
    return parts === undefined ? member(`"bytes":${digestOf(bytes)}`) : formMember(parts, countedHeaders);
  }
  const text = textOf(body, type);
  if (text === undefined) return member(`"bytes":${digestOf(bufferOf(body))}`);
  if (/json/i.test(type) || /^\s*[[{]/.test(text)) {
    // A body that JSON would lose a part of counts by its text.
    const json = native.losslessJson(text);
    if (json !== false) return member(`"body":${json === true ? text : json}`);
  }
  if (!PARAMETERS.test(type)) return member(`"text":${JSON.stringify(text)}`);
  const parameters = parametersOf(text, "", true);
  return (digest) => `,"text":${JSON.stringify(shown(parameters, digest))}`;
}

export type BodyMember = (digest: Digest) => string;
type CountedHeaders = (headers: Part["headers"]) => BodyMember;

function member(text: string): BodyMember {
  return () => `,${text}`;
}

/** `undefined` if the body counts by its bytes. */
function textOf(body: string | Uint8Array, type: string): string | undefined {
  if (typeof body === "string") {
    // As it is sent. The method is newer than the library that TypeScript knows here.
    const text = (body as string & { toWellFormed(): string }).toWellFormed();
    return isText(type) || startsJson(text.charCodeAt(0)) ? text : undefined;
  }
  return (isText(type) || startsJson(body[0])) && isUtf8(body) ? bufferOf(body).toString("utf8") : undefined;
}

function isText(type: string): boolean {
  return type === "" || TEXT.test(type);
}

function startsJson(code: number | undefined): boolean {
  return code === 0x7b || code === 0x5b;
}

function bufferOf(body: string | Uint8Array): Buffer {
  return typeof body === "string" ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

function digestOf(bytes: Buffer): string {
  return `{"length":${bytes.length},"sha256":"${createHash("sha256").update(bytes).digest("hex")}"}`;
}

/** Fields by their text, files by their digest. Boundaries do not count. */
function formMember(parts: readonly Part[], countedHeaders: CountedHeaders): BodyMember {
  const read = parts.map(({ headers, content }) => {
    const isFile = headers.some(([name, value]) => /^content-disposition$/i.test(name) && /filename/i.test(value));
    const isShown = !isFile && isUtf8(content);
    const value = isShown ? `"text":${JSON.stringify(content.toString("utf8"))}` : `"bytes":${digestOf(content)}`;
    return { counted: countedHeaders(headers), value };
  });
  return (digest) =>
    `,"form":[${read.map(({ counted, value }) => `{"headers":${counted(digest)},${value}}`).join(",")}]`;
}
