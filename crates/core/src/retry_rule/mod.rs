//! The retry rule: decides which recorded failures a resumed run retries, and which it replays.
//!
//! A failure was *handled* if the program continued after it. Otherwise it *ended the run*. With [`Failures::Auto`],
//! handled failures are replayed, and the others are retried.
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
//! | started a call or sub-agent after it | `Followed` | handled |
//! | shows nothing else | `Nothing` | the frame above decides |
//!
//! If no frame is above, the failure ended the run.
//!
//! The marks record what the order of starts and ends cannot show:
//!
//! | event | mark |
//! |---|---|
//! | live: a call fails | pending in its frame; `handled` at once if the frame has completed |
//! | live: a sub-agent fails | `handled` if its recorded failure was handled; otherwise pending in the frame above |
//! | live: the frame starts a call or sub-agent, or is about to | its pending failures are `handled` |
//! | live: the frame completes | its pending failures and sub-agents that still run are `handled` |
//! | live: the frame starts over | its pending failures are forgotten |
//! | live: the frame ends with the failure of a call | `stopped`; `handled` only if it was when recorded |
//! | live: the frame ends with the failure of a sub-agent | `stopped` |
//! | restore: the frame's error or a cause equals a failure | `stopped`, for the last such failure |
//! | restore: the evidence is `Completed` or `Followed` | `handled` |
//! | dump: the failure is carried over and was handled | `handled`: not all later calls are carried over |
//! | fork: the failure was handled, or is set by a change | `handled`, not `stopped` |

mod causes;
mod marks;
mod verdict;

pub(crate) use marks::{Mark, PendingFailures, failure_that_ended, mark_handled_failures};
pub use verdict::Failures;
pub(crate) use verdict::{Ancestor, Failed, call_was_handled, frame_was_handled};

#[cfg(test)]
#[path = "../../tests/unit/retry_rule/mod.rs"]
mod tests;
