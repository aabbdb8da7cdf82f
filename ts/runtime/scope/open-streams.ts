/** A call whose answer was returned to the program before the call ended. */
export interface OpenStream {
  /** Ends the call with the part of the answer that has arrived. */
  abort(): void;
  /** Journals the part that has arrived since the last time. */
  progress(): void;
  /** The run ends before the call: journals what has arrived, and emits it as the end of the call. */
  detach(): void;
  readonly ended: Promise<unknown>;
}
