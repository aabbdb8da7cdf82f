const MARK = Symbol.for("agent-rewind/reborn@1");

/** The value that a handler returns to be called again in a new generation. */
export interface RebornSignal {
  /** Props of the next generation. Default: the props of this one. */
  readonly newProps?: unknown;
}

/**
 * Creates the value that a handler returns to start over with an empty prompt and its memory kept.
 * @param newProps props of the next generation. Default: the props of this one.
 */
export function reborn(newProps?: unknown): RebornSignal {
  return Object.freeze(
    Object.assign(Object.create(null) as object, { [MARK]: true }, newProps === undefined ? {} : { newProps }),
  );
}

/** True if a handler's result requests a new generation. */
export function isRebornSignal(value: unknown): value is RebornSignal {
  return typeof value === "object" && value !== null && (value as { [MARK]?: unknown })[MARK] === true;
}
