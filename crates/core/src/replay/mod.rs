//! Replay: which recorded entry answers which call, which failed call is retried, and which part of the recording a
//! dump during a replay keeps.

mod carry_over;
mod copy;
mod explain;
mod progress;
mod retry_rule;
mod source;

pub use carry_over::{detached, detached_with_carry_over};
pub(crate) use copy::{inner_orders, renumbered, without_recorded_link};
pub use explain::Explanation;
pub(crate) use progress::Progress;
pub(crate) use retry_rule::{Ancestor, Failed};
pub use source::{Answer, Entry, Failures, MemoryChoice, Miss, ReplaySource, Verdict};
