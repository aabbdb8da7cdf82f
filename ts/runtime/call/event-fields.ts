import { encodeInput, encodeMarked } from "../../values/encode.js";
import type { ErrorInfo } from "../../types/snapshot.js";
import { toErrorInfo, unrecordable } from "../../values/error-info.js";
import { dataFields, type CallData } from "./call-data.js";
import { thrownTombstone, type CallFailure, type Ended } from "./outcome.js";

/** A value in the form that events contain: a JSON copy. */
export function shown(value: unknown): unknown {
  return JSON.parse(encodeMarked(value).text);
}

/** Event fields of an input: JSON, and the types that JSON lacks. */
export function encodedFields(name: string, input: unknown): object {
  const { text, types } = encodeInput(input);
  const value = { [name]: JSON.parse(text) as unknown };
  return types === null ? value : { ...value, [`${name}Types`]: JSON.parse(types) as unknown };
}

/** Event fields of an output: JSON and the types that JSON lacks, or the reason for a tombstone. */
export function outputFields(ended: Ended<unknown>): {
  output?: unknown;
  outputTypes?: Record<string, string>;
  tombstone?: string;
} {
  if (ended.tombstone !== undefined) return { tombstone: ended.tombstone };
  if (ended.encoded === undefined) return {};
  const { text, types } = ended.encoded;
  const output = JSON.parse(text) as unknown;
  return types === null ? { output } : { output, outputTypes: JSON.parse(types) as Record<string, string> };
}

/** Event fields of a failed call. */
export function failureFields({ error, source, cached, data, failedBy }: CallFailure): CallData & {
  error: ErrorInfo;
  tombstone?: string;
  success: false;
  cache: boolean;
  handled?: true;
  failedBy?: readonly string[];
} {
  const handled = source === "recorded-handled" ? { handled: true as const } : {};
  const info = toErrorInfo(error);
  const reason = unrecordable(info);
  return {
    error: info,
    ...(reason === undefined ? {} : { tombstone: thrownTombstone(reason) }),
    ...dataFields(data),
    success: false,
    cache: cached,
    ...handled,
    ...(failedBy.length === 0 ? {} : { failedBy }),
  };
}
