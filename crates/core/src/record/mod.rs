//! Recording: the live frames of a running program, and the tree that they are journaled in.

mod ledger;
mod live_frame;
mod run;

pub use live_frame::{Asked, Begun, FrameInput, LiveFrame, Returned, RunOptions};
pub use run::{CallSlot, Ended, FramePath, NewCall, NewFrame, Run};
