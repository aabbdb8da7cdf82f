//! Recording: the live frames of a running program, and the tree that they are journaled in.

mod identity;
mod in_flight;
mod inside;
mod ledger;
mod lifecycle;
mod live_frame;
mod run;

pub use crate::retry_rule::{Awaiters, Moment};
pub use live_frame::{CallInput, FrameInput, Included, LiveFrame, RunOptions, StartedCall};
pub use run::{CallSlot, Ended, FramePath, NewCall, NewFrame, Run};
