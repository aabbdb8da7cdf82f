/** A journaled call, for the calls and frames inside it. */
export interface OuterCall {
  readonly callId: string;
  /** Its callId in the recording session around the run, if that was asked too. */
  sessionCallId?: string | undefined;
}

/** Where a call is asked, or a frame is opened. */
export interface AskedIn {
  /** The innermost call of the frame that the code executes. */
  readonly outerCall: OuterCall | undefined;
  /** Number of calls of the frame that the code executes, each inside the other. */
  readonly outerCalls: number;
  /** The callId of the innermost one. None under the rules of older recordings. */
  readonly within: string | undefined;
  readonly scope: { readonly openedIn: AskedIn | undefined };
}

/**
 * The callId of the outer call in the recording session around the run. A session has no frames for the agents of a run
 * with its own snapshot, so it may be a call of a frame above.
 */
export function outerCallInSession(place: AskedIn): string | undefined {
  for (let at: AskedIn | undefined = place; at !== undefined; at = at.scope.openedIn)
    if (at.outerCall?.sessionCallId !== undefined) return at.outerCall.sessionCallId;
  return undefined;
}
