/** The journal entry of a call or sub-agent that failed. */
export interface Origin {
  readonly callId: string;
  /** CallId of the call that it is inside of. */
  readonly within: string | undefined;
  /** True if the failure comes from a recording. */
  readonly replayed: boolean;
  /** Marks that the frame ends with the failure. */
  markStopped(): void;
  /** The next dump shows the failure as the end of the run. */
  nameInDump(): void;
}

/** The status and the body of a failed response. Some clients copy both into their error. */
export interface FailedAnswer {
  readonly status: number;
  readonly body: string;
}

/** Maps errors and failed answers, by identity, to the journal entries of a frame. */
export class ErrorOrigins {
  #byObject = new WeakMap<object, Origin[]>();
  /** A primitive has no identity: an equal one may have been thrown and handled before. So the last entry counts. */
  #byValue = new Map<unknown, Origin>();
  #answers: { readonly answer: FailedAnswer; readonly origin: Origin }[] = [];

  /** @param failed an error, or an object that a client keeps in its error, such as a response. */
  remember(failed: unknown, origin: Origin): void {
    if (!isObject(failed)) {
      this.#byValue.set(failed, origin);
      return;
    }
    const origins = this.#byObject.get(failed);
    if (origins === undefined) this.#byObject.set(failed, [origin]);
    else origins.push(origin);
  }

  rememberAnswer(answer: FailedAnswer, origin: Origin): void {
    this.#answers.push({ answer, origin });
  }

  /** The entries that failed with this error, with one of its causes or members, or with an answer that one of them holds. */
  find(error: unknown): Origin[] {
    const parts = partsOf(error);
    const found = new Set<Origin>();
    for (const part of parts.keys()) {
      const origins = isObject(part) ? this.#byObject.get(part) : [this.#byValue.get(part)];
      for (const origin of origins ?? []) if (origin !== undefined) found.add(origin);
    }
    return found.size > 0 || this.#answers.length === 0 ? [...found] : this.#copied(parts);
  }

  /** The entry whose status and body an error has copied, if it is the only one with them. */
  #copied(parts: ReadonlyMap<unknown, Depth>): Origin[] {
    const errors = [...parts].filter(([part, depth]) => isObject(part) && depth === ERROR);
    const values = errors.map(([part]) => ownEntries(part as object).map(([, value]) => value));
    const equal = this.#answers.filter(({ answer: { status, body } }) =>
      values.some((own) => body !== "" && own.includes(status) && own.includes(body)),
    );
    const origins = new Set(equal.map(({ origin }) => origin));
    return origins.size === 1 ? [...origins] : [];
  }

  forget(): void {
    this.#byObject = new WeakMap();
    this.#byValue.clear();
    this.#answers = [];
  }
}

const MAX_PARTS = 256;

/** How far to look into a part: into a value of an error, and into a value of that. */
type Depth = 0 | 1 | 2;
const ERROR = 2;

/** An error, its causes and members, and the objects that they hold. */
function partsOf(error: unknown): ReadonlyMap<unknown, Depth> {
  const parts = new Map<unknown, Depth>([[error, ERROR]]);
  for (const [part, depth] of parts) {
    if (depth === 0 || !isObject(part)) continue;
    for (const [key, value] of ownEntries(part)) {
      const isMember = depth === ERROR && (key === "cause" || key === "errors");
      for (const inner of isMember && Array.isArray(value) ? (value as unknown[]) : [value]) {
        if (parts.size >= MAX_PARTS) return parts;
        if (parts.has(inner) || !(isMember || isObject(inner))) continue;
        parts.set(inner, isMember || (depth === ERROR && inner instanceof Error) ? ERROR : ((depth - 1) as Depth));
      }
    }
  }
  return parts;
}

/** The own values of an object, without calling its accessors. */
function ownEntries(object: object): [key: string, value: unknown][] {
  try {
    const fields = Object.entries(Object.getOwnPropertyDescriptors(object));
    return fields.flatMap(([key, { value }]): [string, unknown][] => (value === undefined ? [] : [[key, value]]));
  } catch {
    // A proxy may refuse.
    return [];
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
