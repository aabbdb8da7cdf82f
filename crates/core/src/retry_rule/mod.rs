//! The retry rule: decides which recorded failures a resumed run retries, and which it replays.
//!
//! A failure was *handled* if the program had seen it and continued. Otherwise it *ended the run*, or nothing shows what
//! became of it. With [`Failures::Auto`], handled failures are replayed, and the others are retried.
//!
//! A failure is followed up the tree, starting with the frame that it reached first. In each frame, the first row that
//! applies is the [`Evidence`]:
//!
//! | the frame … | evidence | verdict |
//! |---|---|---|
//! | has completed | `Completed` | handled |
//! | has started another generation | `StartedOver` | handled |
//! | ended with this failure (mark `stopped`) | `EndedFrame` | the frame above decides |
//! | or one above it continued after it (mark `handled`) | `Marked` | handled |
//! | has no recorded order for it (old dumps) | `NoOrder` | handled, so that a replay does not repeat the call |
//! | started a call or sub-agent after it (only without [`Flag::SeenFailures`](crate::model::Flag)) | `Followed` | handled |
//! | shows nothing else | `Nothing` | the frame above decides |
//!
//! If no frame is above, the failure ended the run; with `Nothing` on the way, that is not known.
//!
//! The marks record what the order of starts and ends cannot show. A trace contains them too: a start names the failures
//! that it marks as handled, and the end of a frame names the failures that it ended with.
//!
//! | event | mark |
//! |---|---|
//! | live: a failure is handed out to the program | pending in its frame, with its [`Moment`]; `handled` at once if the frame has completed, or if it was when recorded |
//! | live: the frame starts a call or sub-agent, or is about to | `handled` for each pending failure that this start shows as seen |
//! | live: the frame completes | its pending failures and sub-agents that still run are `handled` |
//! | live: the frame starts over | its pending failures are forgotten |
//! | live: the frame ends with the failure of a call | `stopped`; `handled` only if it was when recorded |
//! | live: the frame ends with the failure of a sub-agent | `stopped` |
//! | restore: the frame's end names a failure | `stopped`, and `handled` only if it was when recorded |
//! | restore: the frame's end names none (old traces), and its error or a cause equals a failure | `stopped`, for the last such failure |
//! | restore: the evidence is `Completed` or `Followed` | `handled` |
//! | dump: its caller names a failure | `stopped`, as are the running frames above |
//! | dump: the failure is carried over and was handled | `handled`: not all later calls are carried over |
//! | fork: the failure was handled, or is set by a change | `handled`, not `stopped` |
//!
//! A start shows a pending failure as seen by the first row that applies. The awaiters of a moment are the functions that
//! wait for it, up to the frame.
//!
//! | the failure and the start | seen |
//! |---|---|
//! | have complete chains of awaiters that are in two branches of one combinator, such as `Promise.all` | no |
//! | have complete chains of awaiters | yes: had the error not been caught below the first awaiter that differs, that one would not wait any more |
//! | are in the same turn of the event loop | yes |
//! | have no complete chains, and nothing else of the frame was open in between | yes |
//! | anything else | no |

mod causes;
mod marks;
mod seen;
mod verdict;

pub(crate) use marks::{Mark, failure_that_ended, mark_handled_failures};
pub(crate) use seen::PendingFailures;
pub use seen::{Awaiters, Moment};
pub use verdict::Failures;
pub(crate) use verdict::{Ancestor, Failed, FailureVerdict, call_was_handled, frame_was_handled};

#[cfg(test)]
#[path = "../../tests/unit/retry_rule/mod.rs"]
mod tests;
