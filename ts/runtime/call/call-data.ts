import type { CallMeta, CallRecord } from "../../types/snapshot.js";
import type { Scope } from "../scope/scope.js";

/** The data that is journaled with the outcome of a call. Snapshots and events contain each field under this name. */
export type CallData = Pick<CallRecord, "meta">;

/** JSON text of the data, to journal it. */
export function dataText(scope: Scope, { meta = {} }: CallData): string {
  return scope.recordable(JSON.stringify({ meta }));
}

/** The data of a recorded call, from its JSON text. */
export function recordedData(text: string | undefined): CallData {
  const { meta } = JSON.parse(text ?? "{}") as { meta?: CallMeta | null };
  // The recording may have been edited.
  return typeof meta === "object" && meta !== null ? { meta } : {};
}

/** Event fields of the data. */
export function dataFields({ meta }: CallData): CallData {
  return meta === undefined ? {} : { meta };
}
