/** An unchecked object from an endpoint. */
export type Loose = Record<string, unknown>;
