import type { ToolCallDelta } from "../types/model.js";
import { isRecord } from "../values/members.js";

/** A fragment of a tool call. For the answer tool, `delta.arguments` is the next text of the answer. */
export interface Piece {
  readonly delta: ToolCallDelta;
  readonly name: string;
}

interface Call {
  /** The position among all calls of the answer. */
  readonly position: number;
  id: string;
  name: string;
}

/** Assigns fragments to tool calls. `read` returns `undefined` for an invalid fragment and never throws. */
export class ToolCallReader {
  readonly #byIndex = new Map<number, Call>();
  #last: Call | undefined;
  #count = 0;

  read(fragment: unknown): Piece | undefined {
    if (!isRecord(fragment)) return undefined;
    const { index, id: givenId, function: called, extra_content: extra } = fragment;
    const { name: givenName, arguments: given } = isRecord(called) ? called : {};
    const id = typeof givenId === "string" ? givenId : "";
    const name = typeof givenName === "string" ? givenName : "";
    const call = this.#callOf(typeof index === "number" ? index : undefined, id, name);
    if (id !== "") call.id = id;
    if (name !== "") call.name = name;
    const text = textOf(given);
    return {
      name: call.name,
      delta: {
        index: call.position,
        ...(id === "" ? {} : { id }),
        ...(name === "" ? {} : { name }),
        ...(text === "" ? {} : { arguments: text }),
        ...(extra === undefined ? {} : { extra: { extra_content: extra } }),
      },
    };
  }

  #callOf(index: number | undefined, id: string, name: string): Call {
    const known = index === undefined ? this.#last : this.#byIndex.get(index);
    // Some endpoints send complete calls, all with index 0 or without an index. A name starts a new call there, unless
    // its id is that of the known call.
    const isNew =
      known === undefined || (name !== "" && (index === undefined ? id === "" || id !== known.id : isOther(known, id)));
    const call = isNew ? { position: this.#count++, id: "", name: "" } : known;
    if (index !== undefined) this.#byIndex.set(index, call);
    this.#last = call;
    return call;
  }
}

function isOther(known: Call, id: string): boolean {
  return id !== "" && known.id !== "" && id !== known.id;
}

/** Some endpoints send the input as an object. */
function textOf(given: unknown): string {
  if (typeof given === "string") return given;
  return isRecord(given) ? JSON.stringify(given) : "";
}
