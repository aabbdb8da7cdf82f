import { native } from "../native.js";

/** The fields that the core reads from events of a type. They exclude, for example, whole conversations. */
export interface RestoredFields {
  readonly names: readonly string[];
  /** The first `always` fields are read from every event, the others only from an event without a start before it. */
  readonly always: number;
}

const known = new Map<string, RestoredFields>();

export function restoredFields(type: string): RestoredFields {
  let fields = known.get(type);
  if (fields === undefined) {
    fields = native.restoredFields(type);
    // Unknown types are not cached, because a trace can contain any number of them.
    if (fields.names.length > 0) known.set(type, fields);
  }
  return fields;
}
