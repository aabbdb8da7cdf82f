import type { ToolCallDelta } from "../types/model.js";
import { isObject } from "./loose.js";

/** A piece of a call: `arguments` is the answer's next text where the call is that of the answer tool. */
export interface Piece {
  readonly delta: ToolCallDelta;
  readonly name: string;
}

interface Call {
  /** Place among all calls of the answer. */
  readonly place: number;
  id: string;
  name: string;
}

/** Tells which call a fragment belongs to. Throws nothing; `undefined` is for what is no fragment. */
export class ToolCallReader {
  readonly #byIndex = new Map<number, Call>();
  #last: Call | undefined;
  #count = 0;

  read(fragment: unknown): Piece | undefined {
    if (!isObject(fragment)) return undefined;
    const { index, id: givenId, function: called, extra_content: extra } = fragment;
    const { name: givenName, arguments: given } = isObject(called) ? called : {};
    const id = typeof givenId === "string" ? givenId : "";
    const name = typeof givenName === "string" ? givenName : "";
    const call = this.#callOf(typeof index === "number" ? index : undefined, id, name);
    if (id !== "") call.id = id;
    if (name !== "") call.name = name;
    const text = textOf(given);
    return {
      name: call.name,
      delta: {
        index: call.place,
        ...(id === "" ? {} : { id }),
        ...(name === "" ? {} : { name }),
        ...(text === "" ? {} : { arguments: text }),
        ...(extra === undefined ? {} : { extra: { extra_content: extra } }),
      },
    };
  }

  #callOf(index: number | undefined, id: string, name: string): Call {
    const known = index === undefined ? this.#last : this.#byIndex.get(index);
    // Some endpoints send whole calls, all with the index 0 or with none: a name tells a new call, unless it has the
    // id of the one that is known.
    const isNew =
      known === undefined || (name !== "" && (index === undefined ? id === "" || id !== known.id : isOther(known, id)));
    const call = isNew ? { place: this.#count++, id: "", name: "" } : known;
    if (index !== undefined) this.#byIndex.set(index, call);
    this.#last = call;
    return call;
  }
}

function isOther(known: Call, id: string): boolean {
  return id !== "" && known.id !== "" && id !== known.id;
}

/** Some endpoints give the input as an object. */
function textOf(given: unknown): string {
  if (typeof given === "string") return given;
  return isObject(given) ? JSON.stringify(given) : "";
}
