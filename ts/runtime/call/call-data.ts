import type { CallMeta, CallRecord } from "../../types/snapshot.js";
import type { Scope } from "../scope/scope.js";

/** The data that is journaled with the outcome of a call. Snapshots and events contain each field under this name. */
export type CallData = Pick<CallRecord, "meta" | "lane" | "attempts" | "sameTick" | "inexact">;

/** JSON text of the data, to journal it. */
export function dataText(scope: Scope, { meta = {}, lane, attempts, sameTick, inexact }: CallData): string {
  return scope.recordable(JSON.stringify({ meta, lane, attempts, sameTick, inexact }));
}

const NO_DATA: CallData = {};

/** The data of a recorded call, from its JSON text. */
export function recordedData(text: string | undefined): CallData {
  if (text == null) return NO_DATA;
  const { meta, lane, attempts, sameTick, inexact } = JSON.parse(text) as CallData & { meta?: CallMeta | null };
  // The recording may have been edited.
  return {
    ...(typeof meta === "object" && meta !== null ? { meta } : {}),
    ...(typeof lane === "string" ? { lane } : {}),
    ...(typeof attempts === "number" ? { attempts } : {}),
    ...(sameTick === true ? { sameTick } : {}),
    ...(typeof inexact === "string" ? { inexact } : {}),
  };
}

/** Event fields of the data. */
export function dataFields({ meta, lane, attempts, sameTick, inexact }: CallData): CallData {
  return {
    ...(meta === undefined ? {} : { meta }),
    ...(lane === undefined ? {} : { lane }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(sameTick === undefined ? {} : { sameTick }),
    ...(inexact === undefined ? {} : { inexact }),
  };
}
