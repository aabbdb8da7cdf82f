import { native } from "../native.js";

/** What the core reads of the events of a type: whole conversations, for one, are not among it. */
export interface RestoredFields {
  readonly names: readonly string[];
  /** So many of the first are read of every event; the others only of one that does not follow the start of its span. */
  readonly always: number;
}

const known = new Map<string, RestoredFields>();

export function restoredFields(type: string): RestoredFields {
  let fields = known.get(type);
  if (fields === undefined) {
    fields = native.restoredFields(type);
    // Types are data: others than those that are read could be any number.
    if (fields.names.length > 0) known.set(type, fields);
  }
  return fields;
}
