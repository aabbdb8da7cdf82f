/** A call that was requested in a recording session. */
export interface SeenCall {
  readonly kind: string;
  readonly name: string;
  readonly callId: string;
  /** The request document as JSON text. */
  readonly request: () => string;
  /** Absent until the call ends. */
  ended?: SeenEnd;
}

export type SeenEnd =
  | {
      /** Returns a copy of the output at the end of the call. The program may have changed the object it received. */
      readonly output: () => unknown;
      readonly cached: boolean;
    }
  | { readonly error: unknown; readonly cached: boolean };
