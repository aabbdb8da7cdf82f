const MARK = Symbol.for("agent-rewind/reborn@1");

/** What a handler returns to be called again, in a new generation. */
export interface RebornSignal {
  /** Props of the next generation; those of this one if absent. */
  readonly newProps?: unknown;
}

/**
 * Makes the value that a handler returns to start again with an empty prompt and its memory kept.
 * @param newProps props of the next generation; by default those of this one.
 */
export function reborn(newProps?: unknown): RebornSignal {
  return Object.freeze(
    Object.assign(Object.create(null) as object, { [MARK]: true }, newProps === undefined ? {} : { newProps }),
  );
}

/** Whether a handler's result asks for a new generation. */
export function isRebornSignal(value: unknown): value is RebornSignal {
  return typeof value === "object" && value !== null && (value as { [MARK]?: unknown })[MARK] === true;
}
