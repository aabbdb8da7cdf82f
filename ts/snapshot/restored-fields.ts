import { native } from "../native.js";

/** The fields that a restore reads from events of one type. Conversations are not among them. */
export interface RestoredFields {
  readonly names: readonly string[];
  /** The number of leading fields that are read from every event. The others are read only if the span's start is missing. */
  readonly always: number;
}

const known = new Map<string, RestoredFields>();

export function restoredFields(type: string): RestoredFields {
  let fields = known.get(type);
  if (fields === undefined) {
    fields = native.restoredFields(type);
    // Unknown types are not cached: there is no limit to their number.
    if (fields.names.length > 0) known.set(type, fields);
  }
  return fields;
}
