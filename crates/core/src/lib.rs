//! The core of agent-rewind, free of Node: canonical JSON and content hashes, journals and the
//! frame tree of a run, immutable snapshots, replay from them, and their restore from traces.

pub mod boundary;
pub mod clock;
pub mod diff;
pub mod error;
pub mod explain;
mod failed;
pub mod file;
pub mod fork;
pub mod frame;
pub mod hash;
mod id_hash;
pub mod journal;
pub mod json;
pub mod limits;
pub mod live;
pub mod memory;
pub mod ordered;
pub mod progress;
pub mod redact;
pub mod replay;
pub mod request;
pub mod restore;
pub mod run;
pub mod snapshot;
mod sort;
mod tree_copy;
pub mod unreached;
pub mod usage;
