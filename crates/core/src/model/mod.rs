//! The data of a run: its frames, calls, requests, memory and usage, and the order of its starts and ends.

mod call_data;
mod flags;
mod frame;
mod journal;
mod memory;
mod order;
mod ordered;
mod request;
mod sharing;
mod usage;

pub use call_data::CallData;
pub use flags::{Flag, Flags, Recorder};
pub(crate) use frame::base_of;
pub use frame::{Divergence, Frame, Generation, State, orphaned_error};
pub use journal::{Call, Kind, Outcome, RequestHash, Row, Value};
pub use memory::Memory;
pub(crate) use memory::with_edits;
pub use order::Clock;
pub(crate) use order::Renumbering;
pub use ordered::OrderedMap;
pub(crate) use request::MIN_PART;
pub use request::{
    BuildTable, Filled, Form, Hole, List, ListNode, PROMPT_MEMBERS, PromptForm, PromptTail,
    Prompting, Request, RequestTable,
};
pub use sharing::Sharing;
pub(crate) use sharing::{fill, member_pointer};
pub use usage::{Amounts, Budget, Item, ItemKey, Usage};
