//! Replay: which recorded entry answers which call, and which part of the recording a dump during a replay keeps.

mod carry_over;
mod contested;
mod continued;
mod copy;
mod explain;
mod inside;
mod journal_index;
mod lanes;
mod progress;
mod recorded_frame;
mod source;

pub use carry_over::{detached, detached_with_carry_over};
pub use continued::linked;
pub(crate) use copy::{inner_orders, renumbered, renumbered_call, without_recorded_link};
pub use explain::Explanation;
pub(crate) use inside::{answered, orders_of, settle};
pub(crate) use progress::Progress;
pub use source::{Answer, Entry, Inside, MemoryChoice, Miss, Place, ReplaySource, Verdict};

pub use crate::retry_rule::Failures;
